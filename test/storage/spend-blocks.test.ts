import { expect, it } from 'vitest';
import { createSpendBlocks } from '../../src/storage/spend/spend-blocks.ts';

it('an organization whose log cannot be indexed does not delay the others', async () => {
  const claimed: number[] = [];
  const blocks = createSpendBlocks({
    reads: {
      findUnsummed: async (after) =>
        after < 2 ? { tenant: after + 1, last: after + 1 } : { tenant: null, last: null },
      planSpend: async () => null,
    },
    writer: {
      claimSpend: async (organizationNumber: number) => {
        if (organizationNumber === 1) throw new Error('its log cannot be read');
        claimed.push(organizationNumber);
        return null;
      },
    } as never,
    clock: () => 0,
  });
  await expect(blocks.step()).rejects.toThrow('cannot be read');
  expect(await blocks.step()).toBe('more');
  expect(claimed).toEqual([2]);
});

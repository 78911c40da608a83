import { expect, it } from 'vitest';
import { createIndexer } from '../../src/storage/search/indexer.ts';
import { createSpendBlocks } from '../../src/storage/spend/spend-blocks.ts';

it('a project that cannot be indexed does not keep the others from their turn', async () => {
  const indexed: number[] = [];
  const indexer = createIndexer({
    queue: {
      findUnindexed: async (after) =>
        after < 2 ? { tenant: after + 1, last: after + 1 } : { tenant: null, last: null },
      countUnindexed: async () => 0,
    },
    reads: { planBlock: async () => ({ built: null, pending: [], deleted: [], removed: null }) },
    writer: {
      claimBlock: async (projectNumber: number) => {
        if (projectNumber === 1) throw new Error('its traces cannot be read');
        indexed.push(projectNumber);
        return null;
      },
    } as never,
    clock: () => 0,
  });
  await expect(indexer.step()).rejects.toThrow('cannot be read');
  expect(await indexer.step()).toBe('more');
  expect(indexed).toEqual([2]);
});

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

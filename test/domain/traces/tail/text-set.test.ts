import { expect, it } from 'vitest';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import { createTextSet } from '../../../../src/domain/traces/tail/text-set.ts';
import { seeded } from '../../../support/scenario.ts';

const SEED = 7;

it('finds the texts that a text contains, for any number of texts', () => {
  const random = seeded(SEED);
  const word = (length: number) => Array.from({ length }, () => 'abcÄ%_ 日'.charAt(Math.floor(random() * 8))).join('');
  for (const count of [1, 7, 8, 500]) {
    const texts = new Set(Array.from({ length: count }, () => word(1 + Math.floor(random() * 6))));
    const set = createTextSet(texts);
    for (let round = 0; round < 50; round += 1) {
      const text = word(Math.floor(random() * 200));
      const missing = new Set(texts);
      runWithoutPauses(set.find(text, missing));
      expect(missing).toEqual(new Set([...texts].filter((each) => !text.includes(each))));
    }
  }
});

it('pauses while it goes through a long text for many', () => {
  const texts = new Set(Array.from({ length: 100 }, (_, index) => `needle ${index}.`));
  const text = `${'x'.repeat(300_000)} needle 7.`;
  const missing = new Set(texts);
  const steps = createTextSet(texts).find(text, missing);
  let pauses = 0;
  while (steps.next().done !== true) pauses += 1;
  expect(pauses).toBeGreaterThan(20);
  expect(missing.size).toBe(99);
});

import { describe, expect, it } from 'vitest';
import { includesText } from '../../src/domain/includes-text.ts';
import { drawSeed, seeded } from '../support/scenario.ts';

const TEXT_CHARACTERS = 1_000_000;
const MAX_MS = 500;

describe('includesText', () => {
  it('finds exactly what String.includes finds', () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const textOf = (characters: number) =>
      Array.from({ length: characters }, () => (random() < 0.02 ? 'b' : 'a')).join('');
    const found = { yes: 0, no: 0 };
    for (let round = 0; round < 400; round += 1) {
      const text = textOf(2_000);
      const at = Math.floor(random() * 1_700);
      const part = text.slice(at, at + 200 + Math.floor(random() * 200));
      const wanted = random() < 0.5 ? part : `${part.slice(0, -1)}${part.endsWith('a') ? 'b' : 'a'}`;
      const isThere = includesText(text, wanted);
      expect(isThere, `seed ${seed}, round ${round}`).toBe(text.includes(wanted));
      found[isThere ? 'yes' : 'no'] += 1;
    }
    expect(Math.min(found.yes, found.no)).toBeGreaterThan(50);
  });

  it('finds a text at the start, at the end, as a whole, and none that is longer', () => {
    const text = `x${'ab'.repeat(400)}y`;
    for (const wanted of [text, text.slice(0, 500), text.slice(-500)]) expect(includesText(text, wanted)).toBe(true);
    expect(includesText(text, `${text}z`)).toBe(false);
    expect(includesText('', '')).toBe(true);
  });

  it.each([
    ['a', 'b', 'a'],
    ['b', 'a', 'a'],
    ['a', 'a', 'b'],
  ])('takes linear time where the wanted text repeats itself: %s, %s, %s', (start, middle, end) => {
    const wanted = `${start.repeat(260_000)}${middle}${end.repeat(260_000)}`;
    const before = process.threadCpuUsage();
    expect(includesText('a'.repeat(TEXT_CHARACTERS), wanted)).toBe(false);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(MAX_MS);
  });
});

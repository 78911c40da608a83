import { describe, expect, it } from 'vitest';
import { normalizeText } from '../../src/domain/normalize-text.ts';
import { drawSlug } from '../../src/domain/slug.ts';
import { foldText } from '../../src/domain/traces/search/fold-text.ts';

const UNSORTED = ['\u0315\u0300', '\uff9e\u0315', '\u{1e8d0}\u{10a0d}', '\u0301\u0344'];
/** What takes ten seconds and more where the time is quadratic. */
const MANY = 90_000;
const QUICK_MS = 3000;

function measure(run: () => unknown): number {
  const startedAtMs = performance.now();
  run();
  return performance.now() - startedAtMs;
}

describe('normalization', () => {
  it('takes linear time, however many marks follow a character', () => {
    for (const marks of UNSORTED) {
      const text = `a${marks.repeat(MANY)}`;
      for (const form of ['NFC', 'NFKC', 'NFKD'] as const) {
        expect(measure(() => normalizeText(text, form))).toBeLessThan(QUICK_MS);
      }
      expect(measure(() => foldText(text))).toBeLessThan(QUICK_MS);
      expect(measure(() => drawSlug(text, 'a', (size) => Buffer.alloc(size)))).toBeLessThan(QUICK_MS);
    }
  });

  it('is that of Unicode for up to 30 marks in a row', () => {
    const texts = [`a${'\u0315\u0300'.repeat(15)}b`, 'e\u0301 ｶﾞ \u1112\u1161\u11ab', '\u0300'.repeat(30), 'plain', ''];
    for (const text of texts) {
      for (const form of ['NFC', 'NFKC', 'NFKD'] as const) expect(normalizeText(text, form)).toBe(text.normalize(form));
    }
  });

  it('finds a run of marks wherever it begins', () => {
    const run = '\u0315\u0300'.repeat(16);
    for (let length = 0; length < 70; length += 1) {
      const normalized = normalizeText(`${'-'.repeat(length)}${run}`, 'NFC');
      expect(normalized).toBe(
        `${'-'.repeat(length)}${run.slice(0, 30).normalize('NFC')}${run.slice(30).normalize('NFC')}`,
      );
    }
  });

  it('loses no mark of a longer run, and composes what stands before and after it', () => {
    const text = `e\u0301${'\u0315\u0300'.repeat(40)}e\u0301`;
    const normalized = normalizeText(text, 'NFC');
    expect([...normalized.normalize('NFD')].sort()).toEqual([...text.normalize('NFD')].sort());
    expect(normalized.startsWith('é') && normalized.endsWith('é')).toBe(true);
  });
});

import { expect, it } from 'vitest';
import { bucketOf, greatestOf, leastOf, NONE } from '../../src/domain/number-buckets.ts';
import { openSearchFile } from '../../src/storage/engine/sqlite/search-file.ts';
import { collectText } from '../../src/storage/engine/sqlite/search-texts.ts';
import { matchText } from '../../src/storage/engine/sqlite/search-tokens.ts';
import { seeded } from '../support/scenario.ts';

it('each number is in the bucket whose bounds it is within, and buckets have no gaps', () => {
  expect(bucketOf(null)).toBe(NONE);
  const powers = Array.from({ length: 53 }, (_, power) => 2 ** power);
  const near = powers.flatMap((power) => [
    power - 1,
    power,
    power + 1,
    Math.floor(power * 1.3),
    Math.floor(power * 1.7),
  ]);
  for (const value of [-5, 0, ...near, Number.MAX_SAFE_INTEGER]) {
    const bucket = bucketOf(value);
    expect(leastOf(bucket), `${value}`).toBeLessThanOrEqual(value);
    expect(greatestOf(bucket), `${value}`).toBeGreaterThanOrEqual(value);
  }
  for (let bucket = 1; bucket <= bucketOf(Number.MAX_SAFE_INTEGER); bucket += 1) {
    expect(bucketOf(leastOf(bucket))).toBe(bucket);
    expect(bucketOf(greatestOf(bucket))).toBe(bucket);
    expect(greatestOf(bucket - 1)).toBe(leastOf(bucket) - 1);
  }
});

/** Whether FTS5 finds a text, as the collector keeps it. */
function isCandidate(texts: readonly string[], wanted: string): boolean {
  const collector = collectText();
  for (const text of texts) collector.add(text);
  const match = matchText(wanted);
  if (match === null) return true;
  const file = openSearchFile(':memory:');
  file.prepare('INSERT INTO texts (rowid, t) VALUES (CAST(1 AS INTEGER), ?)').run(collector.end());
  const found = file.prepare('SELECT rowid FROM texts WHERE texts MATCH ?').get(match);
  file.close();
  return found !== undefined;
}

it('a text with any characters is found by its parts', () => {
  const text = 'a "quoted" one, 東京都庁\0nul 😀😀 \ud83d half \ufffd * AND (x) \u{10ffff}\u{10ffff}\u{10ffff}';
  for (let start = 0; start < text.length; start += 1) {
    for (const length of [1, 3, 5, 20]) {
      const part = text.slice(start, start + length);
      expect(isCandidate(['some', text], part), JSON.stringify(part)).toBe(true);
    }
  }
  expect(isCandidate([text.slice(0, 40)], 'absent')).toBe(false);
});

it('a trace with much text keeps each triple of its characters once, and is found by all of them', () => {
  const random = seeded(7);
  const word = () => Array.from({ length: 8 }, () => String.fromCodePoint(97 + Math.floor(random() * 20))).join('');
  const texts = Array.from({ length: 400 }, () => Array.from({ length: 40 }, word).join(' '));
  const collector = collectText();
  for (const text of texts) collector.add(text);
  const kept = collector.end();
  expect(kept.length).toBeLessThan(texts.join('').length / 2);
  const triplesOf = (text: string) => Array.from(text.slice(2), (_, at) => text.slice(at, at + 3));
  const found = new Set(triplesOf(kept));
  expect(texts.flatMap(triplesOf).filter((triple) => !found.has(triple))).toEqual([]);
});

it('a trace with too many triples is a candidate of every text', () => {
  const random = seeded(8);
  const text = Array.from({ length: 80_000 }, () => String.fromCodePoint(97 + Math.floor(random() * 2_000))).join('');
  expect(isCandidate([text], 'whatever')).toBe(true);
  expect(isCandidate([text.slice(0, 1_000)], 'whatever')).toBe(false);
});

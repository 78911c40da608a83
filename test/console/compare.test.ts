/** Two runs are aligned, and their texts compared by words, with as few differences as possible. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignTurns } from '../../src/console/compare/align-turns.ts';
import { alignLists, diffWords } from '../../src/console/compare/diff.ts';
import type { Turn } from '../../src/console/trace/conversation-turns.ts';

describe('two lists', () => {
  const items = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });

  it('are aligned completely, in order, and only equal items side by side', () => {
    fc.assert(
      fc.property(items, items, (first, second) => {
        const pairs = alignLists(first, second);
        expect(pairs.flatMap(([a]) => (a === null ? [] : [a]))).toEqual(first.map((_, index) => index));
        expect(pairs.flatMap(([, b]) => (b === null ? [] : [b]))).toEqual(second.map((_, index) => index));
        for (const [a, b] of pairs) if (a !== null && b !== null) expect(first[a]).toBe(second[b]);
      }),
    );
  });

  it('share as much as the longest common subsequence', () => {
    fc.assert(
      fc.property(items, items, (first, second) => {
        const shared = alignLists(first, second).filter(([a, b]) => a !== null && b !== null);
        expect(shared).toHaveLength(commonLength(first, second));
      }),
    );
  });

  it('that differ beyond measure are replaced between what they share at both ends', () => {
    const [first, second] = ['x', 'y'].map((name) => [
      'begin',
      ...Array.from({ length: 5_000 }, (_, index) => `${name}${index}`),
      'end',
    ]) as [string[], string[]];
    const pairs = alignLists(first, second);
    expect(pairs).toHaveLength(10_002);
    expect([pairs[0], pairs.at(-1)]).toEqual([
      [0, 0],
      [5_001, 5_001],
    ]);
  });
});

function commonLength(first: readonly string[], second: readonly string[]): number {
  let row = new Array<number>(second.length + 1).fill(0);
  for (const item of first) {
    const next = [0];
    for (const [index, other] of second.entries()) {
      const longer = Math.max(row[index + 1] ?? 0, next[index] ?? 0);
      next.push(item === other ? (row[index] ?? 0) + 1 : longer);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

describe('words', () => {
  it('that differ are named, with what is the same around them', () => {
    expect(diffWords('Wait until noon, please.', 'Wait until midnight, please!')).toEqual([
      { kind: 'same', text: 'Wait until ' },
      { kind: 'removed', text: 'noon' },
      { kind: 'added', text: 'midnight' },
      { kind: 'same', text: ', please' },
      { kind: 'removed', text: '.' },
      { kind: 'added', text: '!' },
    ]);
  });

  it('make up both texts', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        (one, other) => {
          const runs = diffWords(one, other);
          const of = (kind: string) => runs.filter((run) => run.kind === 'same' || run.kind === kind);
          expect(
            of('removed')
              .map(({ text }) => text)
              .join(''),
          ).toBe(one);
          expect(
            of('added')
              .map(({ text }) => text)
              .join(''),
          ).toBe(other);
        },
      ),
    );
  });
});

describe('the turns of two runs', () => {
  const say = (role: string, text: string): Turn => ({
    kind: 'message',
    key: `${role}${text}`,
    origin: null,
    json: () => '',
    role,
    parts: [{ kind: 'text', text }],
  });

  it('are side by side where they are the same, and otherwise where they are of the same kind', () => {
    const first = [say('user', 'Hi'), say('assistant', 'Hello'), say('user', 'Bye')];
    const second = [say('user', 'Hi'), say('tool', 'x'), say('assistant', 'Hey'), say('user', 'Bye')];
    const rows = alignTurns(first, second);
    const text = (turn: Turn | null) =>
      turn?.kind === 'message' && turn.parts[0]?.kind === 'text' ? turn.parts[0].text : null;
    expect(rows.map((row) => [text(row.first), text(row.second), row.isSame])).toEqual([
      ['Hi', 'Hi', true],
      [null, 'x', false],
      ['Hello', 'Hey', false],
      ['Bye', 'Bye', true],
    ]);
  });
});

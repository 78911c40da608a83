/** Aligns two lists: what is the same in both, what only the first has, and what only the second has. */

/** An index of each list; null where the other list alone has something. */
export type Pair = readonly [first: number | null, second: number | null];

/** Beyond as many differences, what lies between equal beginnings and ends counts as replaced. */
const EDITS_MAX = 1_000;

/** The shortest edit, by the algorithm of Myers. */
export function alignLists(first: readonly string[], second: readonly string[]): readonly Pair[] {
  const { length } = first;
  let head = 0;
  while (head < length && head < second.length && first[head] === second[head]) head += 1;
  let tail = 0;
  const room = Math.min(length, second.length) - head;
  while (tail < room && first[length - 1 - tail] === second[second.length - 1 - tail]) tail += 1;
  const [one, other] = [first.slice(head, length - tail), second.slice(head, second.length - tail)];
  const same = (count: number, from: number, to: number) =>
    Array.from({ length: count }, (_, index): Pair => [from + index, to + index]);
  const middle = edit(one, other) ?? replaced(one.length, other.length);
  return [
    ...same(head, 0, 0),
    ...middle.map(([a, b]): Pair => [a === null ? null : a + head, b === null ? null : b + head]),
    ...same(tail, length - tail, second.length - tail),
  ];
}

function replaced(one: number, other: number): readonly Pair[] {
  return [
    ...Array.from({ length: one }, (_, index): Pair => [index, null]),
    ...Array.from({ length: other }, (_, index): Pair => [null, index]),
  ];
}

/** Null if the lists differ too much. */
function edit(one: readonly string[], other: readonly string[]): readonly Pair[] | null {
  const most = Math.min(one.length + other.length, EDITS_MAX);
  /** By diagonal, how far into the first list as many edits reach; a copy for each number of edits. */
  const reached: Int32Array[] = [];
  let last = new Int32Array(2 * most + 3);
  for (let edits = 0; edits <= most; edits += 1) {
    const next = last.slice();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = diagonal + most + 1;
      const isDown = diagonal === -edits || (diagonal !== edits && read(last, at - 1) < read(last, at + 1));
      let x = isDown ? read(last, at + 1) : read(last, at - 1) + 1;
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) x += 1;
      next[at] = x;
      if (x >= one.length && x - diagonal >= other.length) {
        return walkBack({ reached: [...reached, next], most, one: one.length, other: other.length });
      }
    }
    reached.push(next);
    last = next;
  }
  return null;
}

type Walk = {
  readonly reached: readonly Int32Array[];
  readonly most: number;
  readonly one: number;
  readonly other: number;
};

function walkBack({ reached, most, one, other }: Walk): readonly Pair[] {
  const pairs: Pair[] = [];
  let [x, y] = [one, other];
  for (let edits = reached.length - 1; edits > 0; edits -= 1) {
    const before = reached[edits - 1] ?? new Int32Array();
    const diagonal = x - y;
    const at = diagonal + most + 1;
    const isDown = diagonal === -edits || (diagonal !== edits && read(before, at - 1) < read(before, at + 1));
    const fromX = isDown ? read(before, at + 1) : read(before, at - 1);
    const fromY = fromX - (isDown ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY && !(isDown ? x === fromX && y === fromY + 1 : x === fromX + 1 && y === fromY)) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    pairs.push(isDown ? [null, fromY] : [fromX, null]);
    [x, y] = [fromX, fromY];
  }
  while (x > 0 && y > 0) {
    x -= 1;
    y -= 1;
    pairs.push([x, y]);
  }
  return pairs.reverse();
}

function read(numbers: Int32Array, at: number): number {
  return numbers[at] ?? 0;
}

export type Run = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string };

const WORDS = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;
const WORD_TEXT_MAX = 50_000;

/** The words that two texts share, and those of one alone. The rest of very long texts is not compared. */
export function diffWords(first: string, second: string): readonly Run[] {
  const [one, other] = [wordsOf(first), wordsOf(second)];
  const runs: { kind: Run['kind']; text: string }[] = [];
  for (const [a, b] of alignLists(one, other)) {
    const kind = a === null ? 'added' : b === null ? 'removed' : 'same';
    const text = (a === null ? other[b ?? 0] : one[a]) ?? '';
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += text;
    else runs.push({ kind, text });
  }
  return runs;
}

function wordsOf(text: string): readonly string[] {
  return text.slice(0, WORD_TEXT_MAX).match(WORDS) ?? [];
}

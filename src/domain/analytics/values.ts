/** Durations whose percentiles are asked for: exact while they are few, in classes of like size beyond. */

/** The median and the value that 19 of 20 do not exceed, by nearest rank. */
export type Percentiles = { readonly p50: number; readonly p95: number };

export type Values = {
  /** A whole number, not negative. */
  add(value: number): void;
  /** How much is kept. */
  size(): number;
  /** Null where there are none. */
  percentiles(): Percentiles | null;
};

/** Beyond it a percentile may be off by one part in a hundred. */
export const EXACT_VALUES_MAX = 10_000;
/** Below it every value is a class of its own. */
const SINGLE_BELOW = 100;
/** Half of what a class may be wide, and the rounding of its middle, stay within one part in a hundred. */
const CLASS_GROWTH = 1.01;
const LOG_GROWTH = Math.log(CLASS_GROWTH);

export function createValues(): Values {
  let few: number[] = [];
  let classes: Map<number, number> | null = null;
  let count = 0;

  function addToClass(value: number): void {
    const key = classOf(value);
    classes?.set(key, (classes.get(key) ?? 0) + 1);
  }

  return {
    add(value) {
      count += 1;
      if (classes !== null) {
        addToClass(value);
        return;
      }
      few.push(value);
      if (few.length <= EXACT_VALUES_MAX) return;
      classes = new Map();
      for (const each of few) addToClass(each);
      few = [];
    },
    size: () => classes?.size ?? few.length,
    percentiles() {
      if (count === 0) return null;
      const at = classes === null ? pickFrom(few) : pickFromClasses(classes);
      return { p50: at(rankOf(50, count)), p95: at(rankOf(95, count)) };
    },
  };
}

/** The place of a percentile among so many values in order, counted from 1. */
function rankOf(percent: number, count: number): number {
  return Math.ceil((percent * count) / 100);
}

function pickFrom(values: readonly number[]): (rank: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (rank) => sorted[rank - 1] ?? 0;
}

function pickFromClasses(classes: ReadonlyMap<number, number>): (rank: number) => number {
  const sorted = [...classes].sort(([one], [other]) => one - other);
  return (rank) => {
    let before = 0;
    for (const [key, count] of sorted) {
      before += count;
      if (before >= rank) return middleOf(key);
    }
    return 0;
  };
}

function classOf(value: number): number {
  if (value < SINGLE_BELOW) return value;
  return SINGLE_BELOW + Math.floor(Math.log(value / SINGLE_BELOW) / LOG_GROWTH);
}

function middleOf(key: number): number {
  if (key < SINGLE_BELOW) return key;
  const least = SINGLE_BELOW * CLASS_GROWTH ** (key - SINGLE_BELOW);
  return Math.round((least * 2 * CLASS_GROWTH) / (1 + CLASS_GROWTH));
}

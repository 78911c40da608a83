/** Numbers whose percentiles are asked for: exact while they are few, in classes of like size beyond. */

/** The median and the value that 19 of 20 do not exceed, by nearest rank. */
export type Percentiles = { readonly p50: number; readonly p95: number };

/** What numbers of like size have in common; keys are in the order of what they stand for. */
export type Classes = {
  classOf(value: number): number;
  middleOf(key: number): number;
};

export type Values = {
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

/** Whole numbers that are not negative, unless other classes are given. */
export function createValues({ classOf, middleOf }: Classes = WHOLE_NUMBERS): Values {
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
      const at = classes === null ? pickFrom(few) : pickFromClasses(classes, middleOf);
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

function pickFromClasses(
  classes: ReadonlyMap<number, number>,
  middleOf: Classes['middleOf'],
): (rank: number) => number {
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

const WHOLE_NUMBERS: Classes = { classOf: classOfWhole, middleOf: middleOfWhole };

function classOfWhole(value: number): number {
  if (value < SINGLE_BELOW) return value;
  return SINGLE_BELOW + Math.floor(Math.log(value / SINGLE_BELOW) / LOG_GROWTH);
}

function middleOfWhole(key: number): number {
  if (key < SINGLE_BELOW) return key;
  const least = SINGLE_BELOW * CLASS_GROWTH ** (key - SINGLE_BELOW);
  return Math.round((least * 2 * CLASS_GROWTH) / (1 + CLASS_GROWTH));
}

/** Any numbers: the least that is told from zero is class 1, and negative ones mirror the others. */
export const ANY_NUMBERS: Classes = {
  classOf(value) {
    const size = Math.abs(value);
    if (size < LEAST_SIZE) return 0;
    return Math.sign(value) * (1 + Math.floor((Math.log(size) - LOG_LEAST) / LOG_GROWTH));
  },
  middleOf(key) {
    if (key === 0) return 0;
    // The powers alone would leave what a double holds long before their product does.
    const least = Math.exp(LOG_LEAST + (Math.abs(key) - 1) * LOG_GROWTH);
    return Math.sign(key) * Math.min(Number.MAX_VALUE, least * ((2 * CLASS_GROWTH) / (1 + CLASS_GROWTH)));
  },
};
const LEAST_SIZE = 1e-9;
const LOG_LEAST = Math.log(LEAST_SIZE);

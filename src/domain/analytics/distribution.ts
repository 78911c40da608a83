/** Percentiles of numbers: exact up to a limit, and beyond it from bins of similar values. */

import { bucketOf, middleOf } from '../number-buckets.ts';

/** By nearest rank. */
export type Percentiles = PercentilesOf<number>;
type PercentilesOf<Found> = { readonly p50: Found; readonly p95: Found; readonly p99: Found };

/** Maps numbers to bins of similar values. Bins ascend with their values. */
type Bins = {
  binOf(value: number): number;
  middleOf(key: number): number;
};

export type Distribution = ReturnType<typeof createDistribution>;

/** With more values a percentile may be off by one percent. */
export const EXACT_VALUES_MAX = 10_000;
/** Half the width of a bin stays within one percent. */
const BIN_GROWTH = 1.01;
const LOG_GROWTH = Math.log(BIN_GROWTH);

const NUMBER_BUCKETS: Bins = { binOf: bucketOf, middleOf };

/** By default for whole numbers from 0 on. */
export function createDistribution({ binOf, middleOf }: Bins = NUMBER_BUCKETS) {
  let values: number[] = [];
  let bins: Map<number, number> | null = null;
  let count = 0;

  function addToBin(value: number): void {
    const key = binOf(value);
    bins?.set(key, (bins.get(key) ?? 0) + 1);
  }

  return {
    add(value: number): void {
      count += 1;
      if (bins !== null) {
        addToBin(value);
        return;
      }
      values.push(value);
      if (values.length <= EXACT_VALUES_MAX) return;
      bins = new Map();
      for (const each of values) addToBin(each);
      values = [];
    },
    /** How many values or bins are in memory. */
    size: (): number => bins?.size ?? values.length,
    /** Null without values. */
    percentiles: (): Percentiles | null =>
      pickPercentiles(count, bins === null ? pickFrom(values) : pickFromBins(bins, middleOf)),
  };
}

/** The percentiles of whole numbers that were counted by their buckets. Null without any. */
export function percentilesOfBuckets(counts: ReadonlyMap<number, number>): Percentiles | null {
  return pickPercentiles(countAll(counts), pickFromBins(counts, middleOf));
}

/** Where the percentiles are among numbers that were counted by their buckets. Null without any. */
export function ranksInBuckets(counts: ReadonlyMap<number, number>) {
  return pickPercentiles(countAll(counts), createBinFinder(counts));
}

/** Counts more numbers of a bucket, or fewer. A bucket without numbers is left out. */
export function addToBucket(counts: Map<number, number>, bucket: number, added: number): void {
  const count = (counts.get(bucket) ?? 0) + added;
  if (count === 0) counts.delete(bucket);
  else counts.set(bucket, count);
}

/** How many numbers were counted in all buckets. */
export function countAll(counts: ReadonlyMap<number, number>): number {
  let count = 0;
  for (const each of counts.values()) count += each;
  return count;
}

function pickPercentiles<Found>(count: number, at: (rank: number) => Found): PercentilesOf<Found> | null {
  if (count === 0) return null;
  return { p50: at(rankOf(50, count)), p95: at(rankOf(95, count)), p99: at(rankOf(99, count)) };
}

/** The rank of a percentile among `count` sorted values, from 1 on. */
function rankOf(percent: number, count: number): number {
  return Math.ceil((percent * count) / 100);
}

function pickFrom(values: readonly number[]): (rank: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (rank) => sorted[rank - 1] ?? 0;
}

function pickFromBins(bins: ReadonlyMap<number, number>, middleOf: Bins['middleOf']): (rank: number) => number {
  const find = createBinFinder(bins);
  return (rank) => middleOf(find(rank).bin);
}

/** A place among the numbers of one bin, from 1 on. */
export type RankInBin = { readonly bin: number; readonly rank: number };

function createBinFinder(bins: ReadonlyMap<number, number>): (rank: number) => RankInBin {
  const sorted = [...bins].sort(([one], [other]) => one - other);
  return (rank) => {
    let before = 0;
    for (const [bin, count] of sorted) {
      if (before + count >= rank) return { bin, rank: rank - before };
      before += count;
    }
    return { bin: 0, rank: 1 };
  };
}

/** For any numbers: bin 0 holds what is nearly zero, and negative bins mirror the positive ones. */
export const SIGNED_BINS: Bins = {
  binOf(value) {
    const size = Math.abs(value);
    if (size < LEAST_SIZE) return 0;
    return Math.sign(value) * (1 + Math.floor((Math.log(size) - LOG_LEAST) / LOG_GROWTH));
  },
  middleOf(key) {
    if (key === 0) return 0;
    // A power of BIN_GROWTH would overflow a double long before the product does.
    const least = Math.exp(LOG_LEAST + (Math.abs(key) - 1) * LOG_GROWTH);
    return Math.sign(key) * Math.min(Number.MAX_VALUE, least * ((2 * BIN_GROWTH) / (1 + BIN_GROWTH)));
  },
};
const LEAST_SIZE = 1e-9;
const LOG_LEAST = Math.log(LEAST_SIZE);

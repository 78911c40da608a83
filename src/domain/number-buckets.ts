/** Buckets of whole numbers grow with them: below 128 each number has its own, then 64 share an octave. */

const OCTAVE = 64;
/** The bucket of what has no number. */
export const NONE = -1;

export function bucketOf(value: number | null): number {
  if (value === null) return NONE;
  if (value < OCTAVE) return Math.max(0, value);
  let octaves = 0;
  let rest = value;
  while (rest >= 2 * OCTAVE) {
    rest = Math.floor(rest / 2);
    octaves += 1;
  }
  return octaves * OCTAVE + rest;
}

/** The least number of a bucket. The first one has the negative numbers too. */
export function leastOf(bucket: number): number {
  if (bucket <= 0) return Number.MIN_SAFE_INTEGER;
  if (bucket < 2 * OCTAVE) return bucket;
  const octaves = Math.floor(bucket / OCTAVE) - 1;
  return (bucket - octaves * OCTAVE) * 2 ** octaves;
}

export function greatestOf(bucket: number): number {
  return leastOf(bucket + 1) - 1;
}

/** Differs from each number of the bucket that is not negative by less than one in a hundred. */
export function middleOf(bucket: number): number {
  return bucket <= 0 ? 0 : Math.round((leastOf(bucket) + greatestOf(bucket)) / 2);
}

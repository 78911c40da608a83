/** The similarity of two texts from 0 to 1, by code points. */

/** Takes arrays of code points. */
type Similarity = (one: Uint32Array, other: Uint32Array) => number;

const MEASURES: { readonly [name: string]: Similarity } = {
  levenshtein: (one, other) => 1 - editDistance(one, other) / Math.max(one.length, other.length),
  hamming: (one, other) => 1 - differingPositions(one, other) / Math.max(one.length, other.length),
  jaro: jaroSimilarity,
};

/** Throws for an unknown distance measure. */
export function findSimilarity(distanceMeasure: string): Similarity {
  const measure = Object.hasOwn(MEASURES, distanceMeasure) ? MEASURES[distanceMeasure] : undefined;
  if (measure === undefined) throw new Error(`There is no distance measure ${distanceMeasure}.`);
  return (one, other) => (one.length === 0 && other.length === 0 ? 1 : measure(one, other));
}

export function codePointsOf(text: string): Uint32Array {
  const points = new Uint32Array(text.length);
  let count = 0;
  for (const character of text) {
    points[count] = character.codePointAt(0) ?? 0;
    count += 1;
  }
  return points.subarray(0, count);
}

function editDistance(one: Uint32Array, other: Uint32Array): number {
  const row = Uint32Array.from({ length: other.length + 1 }, (_, index) => index);
  one.forEach((point, index) => {
    let diagonal = index;
    let left = index + 1;
    row[0] = left;
    for (let column = 1; column < row.length; column += 1) {
      const above = row[column] ?? 0;
      const replaced = other[column - 1] === point ? diagonal : diagonal + 1;
      left = Math.min(replaced, above + 1, left + 1);
      row[column] = left;
      diagonal = above;
    }
  });
  return row.at(-1) ?? 0;
}

function differingPositions(one: Uint32Array, other: Uint32Array): number {
  const shared = Math.min(one.length, other.length);
  let differing = Math.max(one.length, other.length) - shared;
  for (let index = 0; index < shared; index += 1) if (one[index] !== other[index]) differing += 1;
  return differing;
}

/** Equal characters match when their positions are close; transposed ones count half. */
function jaroSimilarity(one: Uint32Array, other: Uint32Array): number {
  const reach = Math.max(0, Math.floor(Math.max(one.length, other.length) / 2) - 1);
  const isTaken = new Uint8Array(other.length);
  const matched: number[] = [];
  one.forEach((point, index) => {
    const last = Math.min(other.length - 1, index + reach);
    for (let position = Math.max(0, index - reach); position <= last; position += 1) {
      if (isTaken[position] === 0 && other[position] === point) {
        isTaken[position] = 1;
        matched.push(point);
        return;
      }
    }
  });
  if (matched.length === 0) return 0;
  const matchedInOther = other.filter((_, position) => isTaken[position] === 1);
  const outOfOrder = matched.filter((point, index) => matchedInOther[index] !== point).length;
  const transpositions = Math.floor(outOfOrder / 2);
  const { length } = matched;
  return (length / one.length + length / other.length + (length - transpositions) / length) / 3;
}

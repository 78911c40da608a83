/**
 * Request ids that look random and can be told in two orders: by the number of their event, and ascending. A table
 * whose key is random fills many times faster in the order of the key.
 */

export type RequestIds = {
  /** The 30 hexadecimal digits of the request of an event, after its `req_`. */
  digitsOf(seq: number): string;
  /** The number of the event whose request comes at this place, from 0, in the order of the ids. */
  seqAt(rank: number): number;
};

const PREFIX_DIGITS = 10;
const PREFIXES = 16 ** PREFIX_DIGITS;
const GOLDEN = 0.618_033_988_749_895;

const fourDigits = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

/** For events 1 to `count`. */
export function createRequestIds(count: number): RequestIds {
  const factor = coprimeNear(count);
  const inverse = inverseOf(factor, count);
  const gap = PREFIXES / count;
  return {
    digitsOf(seq) {
      const rank = (seq * factor) % count;
      const prefix = Math.floor(rank * gap).toString(16);
      return prefix.padStart(PREFIX_DIGITS, '0') + hexDigits(seq, 20);
    },
    seqAt(rank) {
      return (rank * inverse) % count || count;
    },
  };
}

/** Digits, at most 32, that follow from a number without looking like it. */
export function hexDigits(seed: number, length: number): string {
  let text = '';
  for (let salt = 1; text.length < length; salt += 1) {
    const word = mix(seed, salt);
    text += (fourDigits[word >>> 16] ?? '') + (fourDigits[word & 0xffff] ?? '');
  }
  return text.slice(0, length);
}

/** The finalizer of MurmurHash3 over both numbers. */
function mix(seed: number, salt: number): number {
  let word = seed ^ Math.imul(salt, 0x9e3779b9);
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

/** Multiples of such a number visit every place once, far from each other. */
function coprimeNear(count: number): number {
  let factor = Math.max(1, Math.floor(count * GOLDEN));
  while (greatestDivisor(factor, count) !== 1) factor += 1;
  return factor;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** By the extended algorithm of Euclid. */
function inverseOf(factor: number, count: number): number {
  let [rest, nextRest] = [count, factor % count];
  let [at, nextAt] = [0, 1];
  while (nextRest !== 0) {
    const times = Math.floor(rest / nextRest);
    [rest, nextRest] = [nextRest, rest - times * nextRest];
    [at, nextAt] = [nextAt, at - times * nextAt];
  }
  return ((at % count) + count) % count;
}

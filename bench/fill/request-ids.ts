/**
 * Random-looking request ids, computable from the event number and from the rank in ascending order. A table with a
 * random key fills many times faster in the order of the key.
 */

export type RequestIds = {
  /** The 30 hex digits after `req_` in the request id of an event. */
  digitsOf(seq: number): string;
  /** The event number of the request id at this rank, from 0, in ascending order. */
  seqAt(rank: number): number;
};

const PREFIX_DIGITS = 10;
const PREFIXES = 16 ** PREFIX_DIGITS;
const GOLDEN = 0.618_033_988_749_895;

const fourDigits = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

/** Ids for events 1 to `count`. */
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

/** At most 32 random-looking hex digits, determined by a number. */
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

/** Multiples of the result visit every rank once, far apart. */
function coprimeNear(count: number): number {
  let factor = Math.max(1, Math.floor(count * GOLDEN));
  while (greatestDivisor(factor, count) !== 1) factor += 1;
  return factor;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Computes the modular inverse by Euclid. */
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

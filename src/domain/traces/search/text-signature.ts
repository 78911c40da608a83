/**
 * Signatures of folded texts for the index: the triples of characters in them. Triples share numbers, so a signature may
 * match a text that the trace lacks, but never misses one that it has.
 */

/** Triples are numbered below this; a power of two. */
export const TRIPLE_NUMBERS = 16_384;
/** Search texts shorter than this have no triple. */
const TRIPLE_LENGTH = 3;

/** A bit for each number. */
export type TextSignature = Uint32Array;

export function newSignature(): TextSignature {
  return new Uint32Array(TRIPLE_NUMBERS / 32);
}

export function addText(signature: TextSignature, text: string): void {
  forEachTriple(text, (hash) => {
    const number = hash & (TRIPLE_NUMBERS - 1);
    const word = number >>> 5;
    signature[word] = (signature[word] ?? 0) | (1 << (number & 31));
  });
}

/** Distinct triple numbers of a text. */
export function tripleNumbersOf(text: string): readonly number[] {
  const numbers = new Set<number>();
  forEachTriple(text, (hash) => numbers.add(hash & (TRIPLE_NUMBERS - 1)));
  return [...numbers];
}

/** Passes a hash of 32 bits of each triple. */
export function forEachTriple(text: string, take: (hash: number) => void): void {
  let [first, second] = [text.charCodeAt(0), text.charCodeAt(1)];
  for (let index = TRIPLE_LENGTH - 1; index < text.length; index += 1) {
    const third = text.charCodeAt(index);
    const mixed = Math.imul(Math.imul(Math.imul(first, 0x9e37_79b1) + second, 0x85eb_ca6b) + third, 0xc2b2_ae35);
    take(mixed ^ (mixed >>> 15));
    [first, second] = [second, third];
  }
}

/** Collects the texts of a trace for the index, which needs each triple of their characters once. */

import type { TextCollector } from '../../search/trace-index.ts';
import { TOO_MUCH } from './search-tokens.ts';

/** Texts up to this length are kept as they are. */
const KEPT_LENGTH = 16_384;
/** A trace with more triples is a candidate of every search for a text. */
const TRIPLES_MAX = 32_768;
/** Twice as many, so that most triples are found where they are looked for first. */
const SLOTS = 2 * TRIPLES_MAX;

const BETWEEN = '\n';
const BITS = 21;
const LOW_BITS = 11;
const SPREAD = 0x9e_37_79_b1;

export function collectText(): TextCollector<string> {
  let kept = '';
  let triples: Triples | null = null;
  return {
    add(text) {
      // Spans often repeat the texts of others.
      if (kept.includes(text)) return;
      if (triples === null && kept.length + text.length < KEPT_LENGTH) {
        kept += text + BETWEEN;
        return;
      }
      if (triples === null) {
        triples = createTriples();
        addNew(triples, kept);
      }
      if (!triples.isFull()) kept += addNew(triples, text);
    },
    end: () => (triples?.isFull() ? TOO_MUCH : kept.replaceAll('\0', BETWEEN)),
  };
}

/** The runs of a text that have triples that were not seen before. */
function addNew(triples: Triples, text: string): string {
  let runs = '';
  /** The run that is not kept yet. */
  let [from, to] = [0, 0];
  let [first, second] = [0, 0];
  let [firstAt, secondAt, characters] = [0, 0, 0];
  for (let at = 0; at < text.length && !triples.isFull(); ) {
    const third = text.codePointAt(at) ?? 0;
    const end = at + (third > 0xff_ff ? 2 : 1);
    characters += 1;
    if (characters > 2 && triples.add(first, second, third)) {
      if (firstAt > to) {
        if (to > from) runs += text.slice(from, to) + BETWEEN;
        from = firstAt;
      }
      to = end;
    }
    [first, second] = [second, third];
    [firstAt, secondAt] = [secondAt, at];
    at = end;
  }
  return to > from ? runs + text.slice(from, to) + BETWEEN : runs;
}

type Triples = ReturnType<typeof createTriples>;

/** A set of triples of characters, without an object for each of them. */
function createTriples() {
  const [highs, lows] = [new Uint32Array(SLOTS), new Uint32Array(SLOTS)];
  let count = 0;
  return {
    isFull: () => count === TRIPLES_MAX,
    /** Whether it was not among them. */
    add(first: number, second: number, third: number): boolean {
      // Never 0, so that a slot with 0 is free.
      const high = (((first << LOW_BITS) | (second >>> (BITS - LOW_BITS))) >>> 0) + 1;
      const low = ((second << BITS) | third) >>> 0;
      let slot = (Math.imul(high ^ Math.imul(low, SPREAD), SPREAD) >>> 0) % SLOTS;
      while (highs[slot] !== 0) {
        if (highs[slot] === high && lows[slot] === low) return false;
        slot = (slot + 1) % SLOTS;
      }
      [highs[slot], lows[slot]] = [high, low];
      count += 1;
      return true;
    },
  };
}

/** Searches for many texts at once: one signature of the searched text rules out nearly all of them. */

import { includesText } from '../../includes-text.ts';
import type { Steps } from '../../steps.ts';
import { addText, newSignature, type TextSignature, tripleNumbersOf } from '../search/text-signature.ts';

export type TextSet = ReturnType<typeof createTextSet>;

/** Fewer are faster searched one by one. */
const FEW = 8;
/** A longer text has nearly all triples. */
const SIGNED_MAX_CHARACTERS = 65_536;
/** So many triples rule out a text about as well as all of them. */
const TRIPLES_MAX = 12;
const TEXT_SIGNED = 64;
/** Between two steps. */
const CHARACTERS_PER_STEP = 1_048_576;

/** All texts are folded. */
export function createTextSet(texts: ReadonlySet<string>) {
  const triples = new Map(
    [...texts].map((text) => [text, tripleNumbersOf(text.slice(0, TEXT_SIGNED)).slice(0, TRIPLES_MAX)]),
  );

  return {
    /** Removes from `missing` the texts that `text` contains. */
    *find(text: string, missing: Set<string>): Steps<void> {
      const isSigned = missing.size >= FEW && text.length <= SIGNED_MAX_CHARACTERS;
      const signature = isSigned ? sign(text) : null;
      let characters = 0;
      for (const wanted of missing) {
        if (wanted.length > text.length) continue;
        if (signature !== null && !mayHold(signature, triples.get(wanted) ?? [])) continue;
        if (includesText(text, wanted)) missing.delete(wanted);
        characters += text.length;
        if (characters < CHARACTERS_PER_STEP) continue;
        characters = 0;
        yield;
      }
    },
  };
}

function sign(text: string): TextSignature {
  const signature = newSignature();
  addText(signature, text);
  return signature;
}

function mayHold(signature: TextSignature, triples: readonly number[]): boolean {
  return triples.every((triple) => ((signature[triple >>> 5] ?? 0) >>> (triple & 31)) & 1);
}

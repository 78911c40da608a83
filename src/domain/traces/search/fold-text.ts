/**
 * The form in which texts are compared: compatibility forms (NFKC), then full case folding. Texts that differ only in
 * letter case, in how accents are composed or in the width of characters have the same form.
 */

import { normalizeText } from '../../normalize-text.ts';

const BEYOND_ASCII = /[^\0-\x7f]/;
/** Characters whose case folding is not their lower case: `ß` folds to `ss`, the final sigma to the usual one. */
const FOLDED_FURTHER = /\p{Changes_When_Casefolded}/gu;

export function foldText(text: string): string {
  // ASCII is its own compatibility form, and most texts have nothing else.
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const lower = normalizeText(text, 'NFKC').toLowerCase();
  return normalizeText(lower.replace(FOLDED_FURTHER, foldCharacter), 'NFKC');
}

function foldCharacter(character: string): string {
  return character.toUpperCase().toLowerCase();
}

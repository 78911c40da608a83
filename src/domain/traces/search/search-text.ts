/** Which texts of a span the search looks into: its name, its error message, its input and its output. */

import { cutToBytes } from '../../text-limits.ts';
import type { Span } from '../trace.ts';
import { foldText } from './fold-text.ts';
import { collectTexts, type ValueTexts } from './value-texts.ts';

/** The searched texts of a span, in bytes of UTF-8 before they are folded. */
export const TEXT_BYTES_PER_SPAN_MAX = 65_536;

/** The JSON of a span that has texts, in the order in which they count towards the limit. */
export const SEARCHED_JSON = ['errorJson', 'inputJson', 'outputJson'] as const;
export type SearchedJson = (typeof SEARCHED_JSON)[number];

export type SpanTexts = ReturnType<typeof createSpanTexts>;

/** Reads the folded texts of a span, one after the other, until the limit. */
export function createSpanTexts() {
  let leftBytes = TEXT_BYTES_PER_SPAN_MAX;

  function fold(text: string): string {
    leftBytes -= Buffer.byteLength(text);
    return foldText(text);
  }

  return {
    isFull: () => leftBytes <= 0,
    /** The folded name, which a span without one takes from its type. */
    name: ({ name, type }: Pick<Span, 'name' | 'type'>) => fold(cutToBytes(name ?? type, leftBytes)),
    /** Its JSON may be added in slices; `end` returns the folded text. */
    read(of: SearchedJson): ValueTexts {
      const texts = collectTexts(of === 'errorJson' ? 'message' : 'value', leftBytes);
      return { add: texts.add, end: () => fold(texts.end()) };
    },
  };
}

type SearchedSpan = Pick<Span, 'name' | 'type' | SearchedJson>;

/** All of them, of a span in memory. */
export function searchTextsOf(span: SearchedSpan): readonly string[] {
  const texts = createSpanTexts();
  const found = [texts.name(span)];
  for (const of of SEARCHED_JSON) {
    const json = span[of];
    if (json === null || texts.isFull()) continue;
    const reading = texts.read(of);
    reading.add(json);
    found.push(reading.end());
  }
  return found.filter((text) => text !== '');
}

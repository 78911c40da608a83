/**
 * Where the texts of a trace lie. A large one has a row of its own in trace_texts, which appends to the trace neither
 * read nor write unless they change it. Traces that were stored before that table existed have large texts in their own
 * row until an append moves them.
 */

/** A larger text has a row of its own. */
export const TEXT_INLINE_MAX_BYTES = 4_096;

export type TextName = 'metadata' | 'expected_output';

/** The text in the row of the trace, and the bytes of one that lies apart; null: it does not. */
type Place<Text> = { readonly inline: Text | null; readonly apartBytes: number | null };

export function placeText(text: string): Place<string> {
  // No text has fewer bytes than characters.
  const bytes = text.length > TEXT_INLINE_MAX_BYTES ? text.length : Buffer.byteLength(text);
  if (bytes <= TEXT_INLINE_MAX_BYTES) return { inline: text, apartBytes: null };
  return { inline: null, apartBytes: Buffer.byteLength(text) };
}

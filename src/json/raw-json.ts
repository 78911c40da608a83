/** Types of JSON.rawJSON, which the compiler's library lacks: numbers that keep their text. */

/** A number kept as its text, because a double would print it differently. */
type RawJson = { readonly rawJSON: string };

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
    parse(text: string, reviver: Reviver): unknown;
  }
}

/** Recognizes objects in a parsed body, as opposed to arrays and to numbers that keep their spelling. */

import type { JsonValue } from '../../domain/fault.ts';

export type JsonObject = { readonly [name: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** RFC 8785 JSON: one text for one value, for any order of members and spelling of numbers. */

import { isArray, isObject, numberOf } from './free-json.ts';
import type { LosslessJson } from './lossless-json.ts';

/** The canonical text. Numbers are doubles, as the RFC wants; strings must be free of unpaired surrogates. */
export function canonicalJson(value: LosslessJson): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isObject(value)) {
    // Unset members of messages are undefined, and JSON text omits them.
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    // The default order of sort is by UTF-16 code units, which is the order the RFC asks for.
    const members = keys.sort().map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(numberOf(value) ?? value);
}

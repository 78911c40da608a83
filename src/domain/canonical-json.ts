/** RFC 8785 JSON: one text for one value, whatever the order of members or the spelling of numbers. */

import { isArray, isObject, numberOf } from './free-json.ts';
import type { LosslessJson } from './lossless-json.ts';

/** The canonical text. Numbers are doubles, as the RFC wants; strings must be free of unpaired surrogates. */
export function canonicalJson(value: LosslessJson): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isObject(value)) {
    // The default order of sort is by UTF-16 code units, which is the order the RFC asks for.
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(numberOf(value) ?? value);
}

/** Reads objects that people send about traces as JSON texts. REST has parsed them before; other surfaces pass them as they came. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isObject, jsonTypeOf, type LosslessObject } from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { customReason, typeReason } from '../reasons.ts';

/** The object of a JSON text, or why it is none. */
type ReadObject =
  | { readonly object: LosslessObject; readonly reason: null }
  | { readonly object: null; readonly reason: Reason };

export function readJsonObject(field: string, json: string, depthMax: number): ReadObject {
  const parsed = parseLossless(json, { depth: depthMax });
  if (parsed.kind !== 'value') {
    return { object: null, reason: customReason(field, `${field} must be JSON of at most ${depthMax} levels`) };
  }
  const { value } = parsed;
  return isObject(value)
    ? { object: value, reason: null }
    : { object: null, reason: typeReason(field, 'object', jsonTypeOf(value)) };
}

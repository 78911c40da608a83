/**
 * Refuses instants that do not exist, such as 30 February, in messages of JSON: the library would take them for instants
 * of the day after.
 */

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { Fault, type JsonValue } from '../domain/fault.ts';
import { cached, isTimestamp } from '../rpc/rest-shape.ts';
import { parseInstant } from './rest/decode-values.ts';
import { isJsonObject } from './rest/json-object.ts';

/**
 * What texts of such instants have in common: the last days of short months, the hour 24, or an escaped character. Few
 * messages do, so few are parsed twice.
 */
const SUSPECT = /-(?:02-(?:29|3[01])|(?:0[469]|11)-31)T|T24:|\\u00(?:3[0-9]|2d|3a|54|5a)/i;

/** Throws malformed_request with the name of the field. Leaves text that is not JSON to the library. */
export function refuseImpossibleInstants(desc: DescMessage, bytes: Uint8Array): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (!SUSPECT.test(text)) return;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return;
  }
  walk(desc, value);
}

function walk(desc: DescMessage, value: JsonValue): void {
  if (!isJsonObject(value)) return;
  const fields = messageFields(desc);
  for (const [name, member] of Object.entries(value)) {
    const field = fields.get(name);
    if (field?.message === undefined) continue;
    for (const each of itemsOf(field, member)) {
      if (!isTimestamp(field.message)) walk(field.message, each);
      else if (typeof each === 'string' && parseInstant(each, false) === null) throw impossible(field);
    }
  }
}

function itemsOf({ fieldKind }: DescField, member: JsonValue): readonly JsonValue[] {
  if (fieldKind === 'list') return Array.isArray(member) ? member : [];
  return fieldKind === 'map' && isJsonObject(member) ? Object.values(member) : [member];
}

function impossible({ name }: DescField): Fault {
  return new Fault('malformed_request', 'The message could not be decoded.', {
    meta: { detail: `${name} must be an RFC 3339 timestamp of an existing date` },
  });
}

/** By both names that JSON may use. */
const messageFields = cached(({ fields }: DescMessage): ReadonlyMap<string, DescField> => {
  const messages = fields.filter(({ message }) => message !== undefined);
  return new Map(messages.flatMap((field) => [[field.name, field] as const, [field.jsonName, field] as const]));
});

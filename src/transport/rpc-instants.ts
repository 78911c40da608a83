/**
 * Keeps the instants of answers over RPC within the calendar: an integer of a REST request may be stored that no Timestamp
 * may hold, and that the JSON of the library refuses to write.
 */

import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { capInstant } from '../rpc/epoch-ms.ts';
import { fieldValue } from '../rpc/field-values.ts';
import { cached, isTimestamp, restFlags } from '../rpc/rest-shape.ts';

/** Changes the message, which belongs to one answer. */
export function capInstants(desc: DescMessage, message: Message): void {
  for (const field of instantFields(desc)) {
    for (const value of valuesOf(field, fieldValue(message, field))) {
      if (isTimestamp(field.message)) capInstant(value as Timestamp);
      else capInstants(field.message, value);
    }
  }
}

type HoldingField = DescField & { readonly message: DescMessage };

/** The fields that are an instant in epoch milliseconds over REST, or hold one. */
const instantFields = cached(({ fields }: DescMessage): readonly HoldingField[] =>
  fields.filter((field): field is HoldingField => holdsInstant(field, new Set())),
);

function holdsInstant(field: DescField, seen: Set<DescMessage>): boolean {
  const { message } = field;
  if (message === undefined || seen.has(message)) return false;
  if (isTimestamp(message)) return restFlags(field).epochMs;
  seen.add(message);
  return message.fields.some((inner) => holdsInstant(inner, seen));
}

function valuesOf({ fieldKind }: DescField, value: unknown): readonly Message[] {
  if (value === undefined) return [];
  if (fieldKind === 'list') return value as readonly Message[];
  return fieldKind === 'map' ? Object.values(value as Record<string, Message>) : [value as Message];
}

/** Reads the fields of messages, and creates messages from values of fields. */

import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { toTimestamp } from './epoch-ms.ts';

/**
 * A REST body can set several members of a oneof, of which its message holds one. The others are kept beside the message,
 * so that all rules see what was sent: the domain refuses it, with everything else that is wrong.
 */
const others = new WeakMap<Message, ReadonlyMap<DescField, unknown>>();

/** Creates a message. Of several members of a oneof it holds the first; `fieldValue` reads the others too. */
export function messageOf(desc: DescMessage, values: ReadonlyMap<DescField, unknown>): Message {
  const init: Record<string, unknown> = {};
  let beside: Map<DescField, unknown> | null = null;
  for (const [field, value] of values) {
    const { oneof, localName } = field;
    if (!oneof) init[localName] = value;
    else if (!Object.hasOwn(init, oneof.localName)) init[oneof.localName] = { case: localName, value };
    else {
      beside ??= new Map();
      beside.set(field, value);
    }
  }
  const message = create(desc, init);
  if (beside !== null) others.set(message, beside);
  return message;
}

/**
 * Values for a new message, which leaves the fields unset whose values are null: `create` does so, but its types do not
 * say it.
 */
export function unsetNulls<T extends object>(values: T): { readonly [K in keyof T]: UnsetNull<T[K]> } {
  return values as { readonly [K in keyof T]: UnsetNull<T[K]> };
}

type UnsetNull<V> = null extends V ? Exclude<V, null> | undefined : V;

/** The name of an instant ends so in a record, and without the unit in a message. */
type Instant = `${string}${'At' | 'Since'}Ms`;
const INSTANT = /(?:At|Since)Ms$/;

type FieldName<Name> = Name extends Instant ? (Name extends `${infer Field}Ms` ? Field : never) : Name;
type FieldValue<V> = V extends null ? undefined : V extends readonly (infer Item)[] ? Item[] : V;
type Fields<R> = {
  [Name in keyof R as FieldName<Name>]: Name extends Instant ? Timestamp | undefined : FieldValue<R[Name]>;
};

/**
 * Values for a new message from a record whose names are those of the message: its instants become timestamps, and null
 * leaves a field unset. `create` ignores names that the message does not have, such as hashes.
 */
export function fieldsOf<R extends object>(record: R): Fields<R> {
  const fields = Object.entries(record).map(([name, value]) =>
    INSTANT.test(name) ? [name.slice(0, -'Ms'.length), toTimestamp(value)] : [name, value ?? undefined],
  );
  return Object.fromEntries(fields) as Fields<R>;
}

/** The value of a field; undefined where it is unset. */
export function fieldValue(message: Message, field: DescField): unknown {
  const { oneof, localName } = field;
  if (!oneof) return (message as unknown as Record<string, unknown>)[localName];
  const chosen = (message as unknown as Record<string, { case?: string; value?: unknown }>)[oneof.localName];
  return chosen?.case === localName ? chosen.value : others.get(message)?.get(field);
}

/** Whether a value of `fieldValue` stands for none: an enum field without explicit presence is unset at zero. */
export function isUnset(field: DescField, value: unknown): boolean {
  return value === undefined || (field.fieldKind === 'enum' && value === 0);
}

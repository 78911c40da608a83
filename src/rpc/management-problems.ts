/** Problems that the request of any management operation can have. */

import { type DescField, type DescMessage, type Message, type MessageShape, ScalarType } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import { REASONS_MAX, type Reason } from '../domain/fault.ts';
import { fieldValue } from './field-values.ts';
import { isDeclared, pathIn, restName, sendableFields, typeName } from './rest-shape.ts';
import { isSent } from './update-mask.ts';

/** Strings that hold U+0000, which not every store can keep. */
export function nulProblems(desc: DescMessage, message: Message, parent = ''): readonly Reason[] {
  const found: Reason[] = [];
  for (const { field, inner } of textFieldsOf(desc)) {
    const value = fieldValue(message, field);
    const path = pathIn(parent, field);
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const [index, item] of items.entries()) {
      if (found.length >= REASONS_MAX) return found;
      const at = Array.isArray(value) ? `${path}.${index}` : path;
      if (typeof item === 'string' && item.includes('\0')) {
        found.push({ field: at, type: 'invalid_format', message: `${at} must not hold U+0000` });
      } else if (inner !== null && item !== undefined) {
        found.push(...nulProblems(inner, item as Message, at));
      }
    }
  }
  return found;
}

type TextField = { readonly field: DescField; readonly inner: DescMessage | null };

const textFields = new WeakMap<DescMessage, readonly TextField[]>();

/** Cached: a list may hold the same message type a hundred thousand times. */
function textFieldsOf(desc: DescMessage): readonly TextField[] {
  const known = textFields.get(desc);
  if (known !== undefined) return known;
  const fields = sendableFields(desc)
    .map((field) => ({ field, inner: declaredInner(field) }))
    .filter(({ field, inner }) => field.scalar === ScalarType.STRING || inner !== null);
  textFields.set(desc, fields);
  return fields;
}

function declaredInner({ message }: DescField): DescMessage | null {
  return message !== undefined && isDeclared(message) ? message : null;
}

/** An update: the resource, and the mask of the fields that count as sent. */
export type Update<D extends DescMessage> = {
  readonly resource: MessageShape<D>;
  readonly mask: FieldMask | undefined;
};

/** Problems of fields that the mask names without a value, although they cannot be cleared. */
export function unsetProblems<D extends DescMessage>(desc: D, { resource, mask }: Update<D>): readonly Reason[] {
  const named = new Set(mask?.paths ?? []);
  return sendableFields(desc)
    .filter((field) => named.has(field.name) && isUnset(field, fieldValue(resource, field)))
    .map((field) => {
      const expected = typeName(field);
      const path = restName(field);
      return {
        field: path,
        type: 'invalid_type',
        message: `${path} must be a ${expected}`,
        expected,
        received: 'null',
      };
    });
}

/** The values of those fields of `names` that an update sends. */
export function sentFields<D extends DescMessage, K extends string & keyof MessageShape<D>>(
  desc: D,
  { resource, mask }: Update<D>,
  names: readonly K[],
): { readonly [N in K]?: NonNullable<MessageShape<D>[N]> } {
  const sent = desc.fields.filter((field) => {
    const value = fieldValue(resource, field);
    return (
      (names as readonly string[]).includes(field.localName) &&
      !isUnset(field, value) &&
      isSent(mask, field.name, value)
    );
  });
  return Object.fromEntries(sent.map((field) => [field.localName, fieldValue(resource, field)])) as {
    [N in K]?: NonNullable<MessageShape<D>[N]>;
  };
}

/** An enum field without explicit presence is unset at its unspecified value. */
function isUnset(field: DescField, value: unknown): boolean {
  return value === undefined || (field.fieldKind === 'enum' && value === 0);
}

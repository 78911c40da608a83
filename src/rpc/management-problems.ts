/** Problems that the request of any management operation can have. */

import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import { REASONS_MAX, type Reason } from '../domain/fault.ts';
import { fieldValue, isUnset } from './field-values.ts';
import { cached, isDeclared, isMask, pathIn, resourceField, restName, sendableFields, typeName } from './rest-shape.ts';

/** Strings that hold U+0000, which not every store can keep. */
export function nulProblems(message: Message, desc: DescMessage, parent = ''): readonly Reason[] {
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
        found.push(...nulProblems(item as Message, inner, at));
      }
    }
  }
  return found;
}

type TextField = { readonly field: DescField; readonly inner: DescMessage | null };

/** Cached: a list may hold the same message type a hundred thousand times. */
const textFieldsOf = cached((desc: DescMessage): readonly TextField[] =>
  sendableFields(desc)
    .map((field) => ({ field, inner: declaredInner(field) }))
    .filter(({ field, inner }) => field.scalar === ScalarType.STRING || inner !== null),
);

function declaredInner({ message }: DescField): DescMessage | null {
  return message !== undefined && isDeclared(message) ? message : null;
}

/** Problems of an update whose fields cannot be cleared: those its mask names without a value, and U+0000. */
export function updateProblems(request: Message, input: DescMessage): readonly Reason[] {
  return [...unsetProblems(request, input), ...nulProblems(request, input)];
}

function unsetProblems(request: Message, input: DescMessage): readonly Reason[] {
  const [update, mask] = [resourceField(input), input.fields.find(isMask)];
  if (update === null || mask === undefined) throw new Error(`${input.typeName} is not an update`);
  const resource = (fieldValue(request, update) as Message | undefined) ?? create(update.message);
  const named = new Set((fieldValue(request, mask) as FieldMask | undefined)?.paths ?? []);
  return sendableFields(update.message)
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

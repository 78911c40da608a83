/** The mask of an update, which over REST follows from the members of the body. */

import { create, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence, type FieldMask, FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import { FieldBehavior } from '../../../gen/google/api/field_behavior_pb.js';
import { isRequired } from '../../rpc/field-rules.ts';
import {
  hasBehavior,
  isInlineMessage,
  isMask,
  isOutputOnly,
  resourceField,
  restName,
  valueFieldOf,
} from '../../rpc/rest-shape.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';

/** Whether null in a body clears the field: it must have explicit presence and an empty default. */
export function canBeUnset(field: DescField): boolean {
  if (field.presence !== FeatureSet_FieldPresence.EXPLICIT || isRequired(field)) return false;
  return !hasBehavior(field, FieldBehavior.NON_EMPTY_DEFAULT);
}

type Sent = { readonly body: JsonObject | null; readonly nullIsAbsent: boolean };

/** Names the declared fields that the body has, nested ones included. */
export function deriveMask(desc: DescMessage, { body, nullIsAbsent }: Sent): FieldMask {
  const paths = sentPaths(resourceField(desc)?.message ?? desc, body ?? {}, nullIsAbsent);
  return create(FieldMaskSchema, { paths });
}

function sentPaths(desc: DescMessage, body: JsonObject, nullIsAbsent: boolean): string[] {
  return desc.fields.flatMap((field) => {
    if (isMask(field) || isOutputOnly(field)) return [];
    const message = field.fieldKind === 'message' && valueFieldOf(field.message) === null ? field.message : null;
    const pathsIn = (object: JsonObject) =>
      message === null ? [] : sentPaths(message, object, nullIsAbsent).map((path) => `${field.name}.${path}`);
    if (isInlineMessage(field)) return pathsIn(body);
    const name = restName(field);
    if (!Object.hasOwn(body, name)) return [];
    const value = body[name];
    if (value === null && nullIsAbsent) return [];
    const inside = isJsonObject(value) ? pathsIn(value) : [];
    // An object without declared members still counts as sent.
    return inside.length === 0 ? [field.name] : inside;
  });
}

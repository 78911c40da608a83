/** Finds the members of JSON that a message does not have. */

import type { DescMessage } from '@bufbuild/protobuf';
import type { Reason } from '../domain/fault.ts';
import { unknownMemberReason } from '../domain/reasons.ts';
import { cutToCharacters } from '../domain/text-limits.ts';
import { isObject } from '../json/free-json.ts';
import type { LosslessJson } from '../json/lossless-json.ts';
import { isDeclared, restName, sendableFields } from './rest-shape.ts';

/** Of one object. */
const LISTED_MAX = 100;
const SHOWN_NAME_CHARACTERS_MAX = 100;

/** The paths of the unknown members of one object, and of the objects that its fields hold. */
export function unknownMembers(value: LosslessJson | undefined, desc: DescMessage, path = ''): readonly string[] {
  if (!isObject(value)) return [];
  const known = new Set(desc.fields.map(restName));
  const unknown = Object.keys(value).filter((name) => !known.has(name));
  const inside = desc.fields.flatMap((field) =>
    field.fieldKind === 'message' && isDeclared(field.message)
      ? unknownMembers(value[restName(field)], field.message, `${path}${restName(field)}.`)
      : [],
  );
  return [
    ...unknown.slice(0, LISTED_MAX).map((name) => path + cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX)),
    ...inside,
  ];
}

/** The reason to refuse a JSON message that has this member; members have the names of ProtoJSON there. */
export function unknownFieldReason(name: string, { fields }: DescMessage): Reason {
  const known = fields.map(({ jsonName }) => jsonName);
  return unknownMemberReason(cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX), known);
}

/** The reasons to refuse a body that has them. Null counts as not sent. */
export function unknownMemberReasons(body: LosslessJson, desc: DescMessage): readonly Reason[] {
  const known = sendableFields(desc).map(restName);
  return unknownMembers(body, desc)
    .filter((name) => !isObject(body) || body[name] !== null)
    .map((name) => unknownMemberReason(name, known));
}

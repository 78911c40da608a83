/** Finds the members of JSON that a message does not have, and those that only an older interface has. */

import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { rest_extra } from '../../gen/spandrel/v1/options_pb.js';
import type { JsonValue, Reason } from '../domain/fault.ts';
import { answeredMemberReason, unavailableReason, unknownMemberReason } from '../domain/reasons.ts';
import { cutToCharacters } from '../domain/text-limits.ts';
import { isArray, isObject } from '../json/free-json.ts';
import type { LosslessJson } from '../json/lossless-json.ts';
import {
  cached,
  isDeclared,
  isInlineMessage,
  isMask,
  restFlags,
  restName,
  sendableFields,
  unavailableMembers,
  valueFieldOf,
} from './rest-shape.ts';
import type { Problem } from './validate.ts';

/** Of one object. */
const LISTED_MAX = 100;
const SHOWN_NAME_CHARACTERS_MAX = 100;

/** An unknown member by its path, and the paths that requests may send in its place. */
type UnknownMember = { readonly path: string; readonly known: readonly string[] };

/** The paths of the unknown members of one object, and of the objects that its fields hold. */
export function unknownMembers(value: LosslessJson | undefined, desc: DescMessage): readonly string[] {
  return findUnknown(value, desc, { path: '', names: memberNames(desc) }).map(({ path }) => path);
}

type Refusing = { readonly nullIsAbsent: boolean };

/** The reasons to refuse a body that has them. */
export function unknownMemberReasons(
  body: LosslessJson,
  method: DescMethod,
  { nullIsAbsent }: Refusing,
): readonly Reason[] {
  const { input } = method;
  const names = new Set([...memberNames(input), ...recordMembers(method)]);
  const unknown = findUnknown(body, input, { path: '', names })
    .filter(({ path }) => !nullIsAbsent || !isObject(body) || body[path] !== null)
    .map(({ path, known }) => unknownMemberReason(path, known));
  return [...unknown, ...misnamedReasons(body, input)];
}

/** A record can be sent back as it was read: a write ignores the members that only answers have. */
const recordMembers = cached(({ output, idempotency }: DescMethod): readonly string[] => {
  if (idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) return [];
  return output.fields.flatMap((field) =>
    field.fieldKind === 'message' && isDeclared(field.message) ? [...memberNames(field.message)] : [],
  );
});

/** The reasons to refuse members of answers that are sent in place of a field of the request. See answered_as. */
function misnamedReasons(body: LosslessJson, input: DescMessage): readonly Reason[] {
  if (!isObject(body)) return [];
  return input.fields
    .filter((field) => saysNothing(body[restName(field)]))
    .flatMap((field) =>
      restFlags(field)
        .answeredAs.filter((name) => (body[name] ?? null) !== null)
        .map((name) => answeredMemberReason(name, restName(field))),
    );
}

function saysNothing(value: LosslessJson | undefined): boolean {
  return value === undefined || value === null || (isArray(value) && value.length === 0);
}

type Place = { readonly path: string; readonly names: ReadonlySet<string> };

function findUnknown(
  value: LosslessJson | undefined,
  desc: DescMessage,
  { path, names }: Place,
): readonly UnknownMember[] {
  if (!isObject(value)) return [];
  const unknown = Object.keys(value)
    .filter((name) => !names.has(name))
    .slice(0, LISTED_MAX);
  const known = unknown.length === 0 ? [] : sendableNames(desc).map((name) => path + name);
  return [
    ...unknown.map((name) => ({ path: path + cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX), known })),
    ...desc.fields.flatMap((field) => findInside(value, field, path)),
  ];
}

/** The unknown members of the objects that a field holds. */
function findInside(
  object: { readonly [name: string]: LosslessJson },
  field: DescField,
  path: string,
): readonly UnknownMember[] {
  const { message } = field;
  if (field.fieldKind === 'map' || message === undefined) return [];
  if (!isDeclared(message) || valueFieldOf(message) !== null) return [];
  if (isInlineMessage(field)) return message.fields.flatMap((inside) => findInside(object, inside, path));
  const names = memberNames(message);
  const name = restName(field);
  const held = Object.hasOwn(object, name) ? object[name] : undefined;
  const at = `${path}${name}.`;
  if (field.fieldKind !== 'list') return findUnknown(held, message, { path: at, names });
  if (!isArray(held)) return [];
  const found = held.flatMap((item, index) => findUnknown(item, message, { path: `${at}${index}.`, names }));
  return found.slice(0, LISTED_MAX);
}

/** The members that requests or answers have over REST, those of inline messages included. */
const memberNames = cached((desc: DescMessage): ReadonlySet<string> => {
  const extras = hasOption(desc, rest_extra) ? getOption(desc, rest_extra).map(({ name }) => name) : [];
  const inside = namesOf(desc.fields, (inline) => [...memberNames(inline)]);
  return new Set([...inside, ...extras, ...unavailableMembers(desc)]);
});

const sendableNames = cached((desc: DescMessage): readonly string[] => namesOf(sendableFields(desc), sendableNames));

function namesOf(fields: readonly DescField[], within: (inline: DescMessage) => readonly string[]): readonly string[] {
  return fields
    .filter((field) => !isMask(field))
    .flatMap((field) => (isInlineMessage(field) ? within(field.message) : [restName(field)]));
}

/** The members of one object that rest_unavailable refuses. `path` has a dot behind it unless it is empty. */
export function unavailableProblems(
  desc: DescMessage,
  object: { readonly [name: string]: JsonValue },
  path: string,
): readonly Problem[] {
  return unavailableMembers(desc)
    .filter((name) => Object.hasOwn(object, name) && !isSilent(object[name]))
    .map((name) => ({ ...unavailableReason(path + name), target: 'json' }));
}

function isSilent(value: JsonValue | undefined): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isSilent);
  return value === undefined || value === null || value === false || value === '';
}

/** The reason to refuse a JSON message that has this member; members have the names of ProtoJSON there. */
export function unknownFieldReason(name: string, input: DescMessage, typeName: string): Reason {
  const { fields } = messageNamed(input, typeName) ?? input;
  const known = fields.map(({ jsonName }) => jsonName);
  return unknownMemberReason(cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX), known);
}

/** The message of this type that a request is or holds; null where it holds none. */
function messageNamed(desc: DescMessage, typeName: string, around: readonly DescMessage[] = []): DescMessage | null {
  if (desc.typeName === typeName) return desc;
  for (const { message } of desc.fields) {
    const found = message && !around.includes(message) ? messageNamed(message, typeName, [...around, desc]) : null;
    if (found) return found;
  }
  return null;
}

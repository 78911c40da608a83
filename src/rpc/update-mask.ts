/** Which fields an update sends: those its mask names or, without a mask, those that are set. */

import {
  create,
  type DescMessage,
  type DescMethod,
  isFieldSet,
  type Message,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { FieldMask } from '@bufbuild/protobuf/wkt';
import { REASONS_MAX } from '../domain/fault.ts';
import { fieldValue } from './field-values.ts';
import {
  isDeclared,
  isMask,
  isOutputOnly,
  pathIn,
  requestTargets,
  resourceField,
  restFlags,
  restName,
  valueFieldOf,
} from './rest-shape.ts';
import type { Problem } from './validate.ts';

/** `path` as in the contract; `value` is what the request has there. */
export function isSent(mask: FieldMask | undefined, path: string, value: unknown): boolean {
  const paths = mask?.paths ?? [];
  return paths.length > 0 ? paths.includes(path) : value !== undefined;
}

/** The resource of an update, and its mask. */
type Update<D extends DescMessage> = {
  readonly resource: MessageShape<D> | undefined;
  readonly mask: FieldMask | undefined;
};

type Sent<V> = V extends readonly unknown[] ? V : V | null;

/** What an update sends of the fields `names`. A field that is sent without a value is null, or an empty list. */
export function sentFields<D extends DescMessage, K extends string & keyof MessageShape<D>>(
  desc: D,
  { resource, mask }: Update<D>,
  names: readonly K[],
): { readonly [N in K]?: Sent<NonNullable<MessageShape<D>[N]>> } {
  const message: Message = resource ?? create(desc);
  const fields = desc.fields.filter(({ localName }) => (names as readonly string[]).includes(localName));
  const sent = fields.flatMap((field) => {
    const value = fieldValue(message, field);
    const isSet = isFieldSet(message, field);
    if (!isSent(mask, field.name, isSet ? value : undefined)) return [];
    return [[field.localName, isSet || field.fieldKind === 'list' ? value : null]];
  });
  return Object.fromEntries(sent) as { [N in K]?: Sent<NonNullable<MessageShape<D>[N]>> };
}

/** The same of fields that cannot be cleared: `updateProblems` refuses those that are sent without a value. */
export function sentValues<D extends DescMessage, K extends string & keyof MessageShape<D>>(
  ...args: Parameters<typeof sentFields<D, K>>
): { readonly [N in K]?: NonNullable<MessageShape<D>[N]> } {
  const values = Object.entries(sentFields(...args)).filter(([, value]) => value !== null);
  return Object.fromEntries(values) as { [N in K]?: NonNullable<MessageShape<D>[N]> };
}

/**
 * Problems of a mask: paths that name no field, and fields that are set although the mask omits them. Ignoring such a field
 * silently would be dangerous: it may be the one that restricts a key.
 */
export function maskProblems(method: DescMethod, message: Message): readonly Problem[] {
  const { input } = method;
  const mask = input.fields.find(isMask);
  const paths = mask === undefined ? [] : ((fieldValue(message, mask) as FieldMask | undefined)?.paths ?? []);
  if (mask === undefined || paths.length === 0) return [];
  const resource = resourceField(input);
  const desc = resource?.message ?? input;
  const name = restName(mask);
  const problems: Problem[] = [];
  // The parents of a path that names no field may be many times longer than the path.
  const known: string[] = [];
  for (const [index, path] of paths.entries()) {
    if (problems.length >= REASONS_MAX) return problems;
    const field = `${name}.paths.${index}`;
    if (namesField(desc, path)) known.push(path);
    else problems.push(problemOf(field, `${field} names no field of the request`));
  }
  const targets = requestTargets(method);
  const addressing = desc.fields.flatMap((field) => (targets.get(field) === 'param' ? [field.name] : []));
  const named = { whole: new Set([...paths, ...addressing]), inPart: new Set(known.flatMap(parentsOf)) };
  const sent = resource === null ? message : (fieldValue(message, resource) as Message | undefined);
  if (sent === undefined) return problems;
  for (const field of omittedFields({ desc, message: sent, path: '', name: '' }, named)) {
    problems.push(problemOf(field, `${field} is set, but ${name} does not name it`));
  }
  return problems;
}

function problemOf(field: string, message: string): Problem {
  return { field, target: 'json', type: 'custom', message };
}

function namesField(desc: DescMessage, path: string): boolean {
  const [name = '', ...inside] = path.split('.');
  const field = desc.fields.find((each) => each.name === name && !isMask(each));
  if (field === undefined || inside.length === 0) return field !== undefined;
  if (field.fieldKind !== 'message' || !isDeclared(field.message) || valueFieldOf(field.message) !== null) return false;
  return namesField(field.message, inside.join('.'));
}

/** The paths of all messages around the field. */
function parentsOf(path: string): readonly string[] {
  const names = path.split('.').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('.'));
}

/** A message inside a request, with its path in contract names and in REST names. */
type Part = { readonly desc: DescMessage; readonly message: Message; readonly path: string; readonly name: string };
type Named = { readonly whole: ReadonlySet<string>; readonly inPart: ReadonlySet<string> };

/** The set fields that neither they nor a message around them is named by the mask. */
function omittedFields({ desc, message, ...at }: Part, named: Named): readonly string[] {
  return desc.fields.flatMap((field) => {
    const path = at.path + field.name;
    if (isMask(field) || isOutputOnly(field) || !isFieldSet(message, field) || named.whole.has(path)) return [];
    const name = pathIn(at.name, field);
    const inner = fieldValue(message, field);
    const isInPart = named.inPart.has(path);
    if (field.fieldKind !== 'message' || inner === undefined || !(isInPart || restFlags(field).inline)) return [name];
    const inside = omittedFields({ desc: field.message, message: inner as Message, path: `${path}.`, name }, named);
    // An inline message has no name of its own, so its fields are named, if it has any.
    return isInPart || inside.length > 0 ? inside : [name];
  });
}

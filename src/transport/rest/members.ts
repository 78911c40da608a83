/** The members that a message has over REST: its fields, and the extra members that the contract adds. */

import {
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  hasOption,
  type Message,
} from '@bufbuild/protobuf';
import { FieldBehavior } from '../../../gen/google/api/field_behavior_pb.js';
import { type ExtraMember, rest_extra } from '../../../gen/spandrel/v1/options_pb.js';
import { hasBehavior, restFlags, restName } from '../../rpc/rest-shape.ts';

export type Member =
  | { readonly kind: 'field'; readonly field: DescField }
  | { readonly kind: 'json'; readonly name: string; readonly json: string }
  /** The REST name of the field that is set. */
  | { readonly kind: 'case'; readonly name: string; readonly oneof: DescOneof }
  /** `inside` leads from the message to the one that has the field. */
  | { readonly kind: 'copy'; readonly name: string; readonly field: DescField; readonly inside: readonly Read[] };

type Read = (message: Message) => unknown;

/** Writes one or more members of a message, each with a comma before it. */
export type Members = (message: Message) => string;

/** In the order they are written in, without those named in `omit`. Throws where an extra member names an unknown field. */
export function membersOf(desc: DescMessage, omit: ReadonlySet<string>): readonly Member[] {
  const extras = (hasOption(desc, rest_extra) ? getOption(desc, rest_extra) : []).filter(({ name }) => !omit.has(name));
  for (const { before } of extras) if (before !== '') fieldNamed(desc, before);
  const at = (name: string) => extras.filter(({ before }) => before === name).map((extra) => toMember(desc, extra));
  const fields = desc.fields.flatMap((field): readonly Member[] => [
    ...at(field.name),
    ...(isHidden(field) || omit.has(restName(field)) ? [] : [{ kind: 'field' as const, field }]),
  ]);
  return [...fields, ...at('')];
}

function isHidden(field: DescField): boolean {
  return restFlags(field).hidden || hasBehavior(field, FieldBehavior.INPUT_ONLY);
}

function toMember(desc: DescMessage, { name, value }: ExtraMember): Member {
  switch (value.case) {
    case 'json':
      return { kind: 'json', name, json: value.value };
    case 'caseOf':
      return { kind: 'case', name, oneof: oneofNamed(desc, value.value) };
    case 'copyOf':
      return { kind: 'copy', name, ...follow(desc, value.value.split('.')) };
    default:
      throw new Error(`${desc.typeName}: the extra member ${name} has no value`);
  }
}

function follow(desc: DescMessage, [first = '', ...rest]: readonly string[]) {
  const field = fieldNamed(desc, first);
  if (rest.length === 0) return { field, inside: [] };
  if (field.fieldKind !== 'message') throw new Error(`${desc.typeName}.${first} has no fields`);
  const inner: { readonly field: DescField; readonly inside: readonly Read[] } = follow(field.message, rest);
  return { field: inner.field, inside: [reader(field), ...inner.inside] };
}

function fieldNamed(desc: DescMessage, name: string): DescField {
  const field = desc.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${desc.typeName}: an extra member names the unknown field ${name}`);
  return field;
}

function oneofNamed(desc: DescMessage, name: string): DescOneof {
  const oneof = desc.oneofs.find((each) => each.name === name);
  if (oneof === undefined) throw new Error(`${desc.typeName}: an extra member names the unknown oneof ${name}`);
  return oneof;
}

/** A function that reads the value of a field; undefined where it is unset. */
export function reader(field: DescField): Read {
  const { oneof, localName } = field;
  if (!oneof) return (message) => (message as unknown as Record<string, unknown>)[localName];
  const group = oneof.localName;
  return (message) => {
    const chosen = (message as unknown as Record<string, { case?: string; value?: unknown }>)[group];
    return chosen?.case === localName ? chosen.value : undefined;
  };
}

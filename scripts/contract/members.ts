/** The REST members of an object: fields of a message, fields of inline messages, and REST's own. */

import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import { getComments } from '@bufbuild/protoplugin';
import { FieldBehavior, field_behavior } from '../../gen/google/api/field_behavior_pb.js';
import {
  isInlineMessage,
  isJsonText,
  isMask,
  isOutputOnly,
  type MessageField,
  mergedFields,
  restFlags,
  restName,
  valueFieldOf,
} from '../../src/rpc/rest-shape.ts';
import { membersOf } from '../../src/transport/rest/members.ts';
import { type Kind, kindOf, whole } from './kinds.ts';
import { type Limits, limitsOf } from './limits.ts';

export type Member = {
  /** Null stands for all other members. */
  readonly name: string | null;
  readonly kind: Kind;
  readonly comment: string;
};

export type SentMember = Member & {
  readonly field: DescField;
  readonly limits: Limits;
  /** JSON types also accepted for it, or for its items; "any" means all. */
  readonly also: readonly string[];
};

export type AnsweredMember = Member & {
  readonly nullable: boolean;
  readonly mayBeAbsent: boolean;
};

/** The members of a request. */
export function sentMembers(fields: readonly DescField[]): SentMember[] {
  return fields.filter(isSent).flatMap((field): SentMember[] => {
    const merged = mergedFields(field.oneof);
    if (merged.length > 0) return merge(field, merged, (desc) => sentMembers(desc.fields));
    if (isInlineMessage(field)) return sentMembers(field.message.fields);
    return [{ ...memberOf(field), field, limits: limitsOf(field), also: restFlags(field).also }];
  });
}

/** The members of all messages of a oneof, each once, in place of the first of the messages. */
function merge<M extends Member>(
  field: DescField,
  fields: readonly MessageField[],
  membersIn: (desc: DescMessage) => readonly M[],
): M[] {
  const members = field === fields[0] ? fields.flatMap(({ message }) => membersIn(message)) : [];
  return members.filter(({ name }, index) => members.findIndex((each) => each.name === name) === index);
}

function isSent(field: DescField): boolean {
  return !isMask(field) && !isOutputOnly(field) && !restFlags(field).hidden;
}

/** The members of an answer, in the order written. */
export function answeredMembers(desc: DescMessage, omit: readonly string[] = []): AnsweredMember[] {
  return membersOf(desc, new Set(omit)).flatMap((member): AnsweredMember[] => {
    if (member.kind === 'json') {
      const kind: Kind = { kind: 'constant', value: JSON.parse(member.json) };
      return [{ name: member.name, kind, comment: '', nullable: false, mayBeAbsent: false }];
    }
    if (member.kind === 'case') {
      const { name, oneof } = member;
      const kind: Kind = { kind: 'enum', values: oneof.fields.map(restName) };
      return [{ name, kind, comment: commentOf(oneof), nullable: false, mayBeAbsent: false }];
    }
    const { field } = member;
    if (member.kind === 'copy') {
      return [{ ...memberOf(field), ...presenceOf(field), kind: whole(kindOf(field)), name: member.name }];
    }
    if (!isInlineMessage(field)) return [{ ...memberOf(field), ...presenceOf(field) }];
    const membersIn = (message: DescMessage) => answeredMembers(message, [...omit, ...restFlags(field).omit]);
    const merged = mergedFields(field.oneof);
    if (merged.length > 0) {
      return merge(field, merged, membersIn).map((each) => ({ ...each, nullable: true, mayBeAbsent: false }));
    }
    const members = membersIn(field.message);
    return mayBeUnset(field) ? members.map((each) => ({ ...each, mayBeAbsent: true })) : members;
  });
}

function presenceOf(field: DescField): Pick<AnsweredMember, 'nullable' | 'mayBeAbsent'> {
  const { omitUnset, emptyIsNull, unsetIsEmpty } = restFlags(field);
  const isUnset = mayBeUnset(field);
  const held = field.fieldKind === 'message' ? valueFieldOf(field.message) : null;
  const holdsNull = held !== null && mayBeUnset(held);
  return {
    nullable: emptyIsNull || holdsNull || (isUnset && !omitUnset && !unsetIsEmpty),
    mayBeAbsent: isUnset && omitUnset,
  };
}

/** An answer holds a field unless it is optional or in a oneof. Only updates may omit a required one. */
function mayBeUnset(field: DescField): boolean {
  return ((field.proto.proto3Optional ?? false) && !isNeeded(field)) || field.oneof !== undefined;
}

/** True for a field that every stored object has. */
export function isNeeded(field: DescField): boolean {
  return hasOption(field, field_behavior) && getOption(field, field_behavior).includes(FieldBehavior.REQUIRED);
}

function memberOf(field: DescField): Member {
  const isUnnamed = isJsonText(field) && restFlags(field).inline;
  return { name: isUnnamed ? null : restName(field), kind: kindOf(field), comment: commentOf(field) };
}

/** The leading comment of a declaration, as one line. */
export function commentOf(desc: Parameters<typeof getComments>[0]): string {
  return (getComments(desc).leading ?? '').trim().replace(/\s*\n\s*/g, ' ');
}

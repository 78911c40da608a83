/** The members of an object over REST: fields of a message, those of what is written inline, and what REST adds. */

import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import { getComments } from '@bufbuild/protoplugin';
import { FieldBehavior, field_behavior } from '../../gen/google/api/field_behavior_pb.js';
import {
  isInlineMessage,
  isJsonText,
  isMask,
  isOutputOnly,
  restFlags,
  restName,
  valueFieldOf,
} from '../../src/rpc/rest-shape.ts';
import { membersOf } from '../../src/transport/rest/members.ts';
import { type Kind, kindOf, whole } from './kinds.ts';
import { type Limits, limitsOf } from './limits.ts';

export type Member = {
  /** Null: any other members there may be. */
  readonly name: string | null;
  readonly kind: Kind;
  readonly comment: string;
};

export type SentMember = Member & {
  readonly field: DescField;
  readonly limits: Limits;
  /** Types of JSON that are taken in its place, or in place of its items; "any" is each of them. */
  readonly also: readonly string[];
};

export type AnsweredMember = Member & {
  readonly nullable: boolean;
  readonly mayBeAbsent: boolean;
};

/** What may be sent in place of a message. */
export function sentMembers(fields: readonly DescField[]): SentMember[] {
  return fields.filter(isSent).flatMap((field): SentMember[] => {
    if (isInlineMessage(field)) return sentMembers(field.message.fields);
    return [{ ...memberOf(field), field, limits: limitsOf(field), also: restFlags(field).also }];
  });
}

function isSent(field: DescField): boolean {
  return !isMask(field) && !isOutputOnly(field) && !restFlags(field).hidden;
}

/** What an answer has in place of a message, in the order it is written. */
export function answeredMembers(desc: DescMessage, omit: readonly string[] = []): AnsweredMember[] {
  return membersOf(desc, new Set(omit)).flatMap((member): AnsweredMember[] => {
    if (member.kind === 'json') {
      const kind: Kind = { kind: 'constant', value: JSON.parse(member.json) };
      return [{ name: member.name, kind, comment: '', nullable: false, mayBeAbsent: false }];
    }
    const { field } = member;
    if (member.kind === 'copy') {
      return [{ ...memberOf(field), ...presenceOf(field), kind: whole(kindOf(field)), name: member.name }];
    }
    if (!isInlineMessage(field)) return [{ ...memberOf(field), ...presenceOf(field) }];
    const members = answeredMembers(field.message, [...omit, ...restFlags(field).omit]);
    return mayBeUnset(field) ? members.map((each) => ({ ...each, mayBeAbsent: true })) : members;
  });
}

function presenceOf(field: DescField): Pick<AnsweredMember, 'nullable' | 'mayBeAbsent'> {
  const { omitUnset, emptyIsNull } = restFlags(field);
  const isUnset = mayBeUnset(field);
  const held = field.fieldKind === 'message' ? valueFieldOf(field.message) : null;
  const holdsNull = held !== null && mayBeUnset(held);
  return { nullable: emptyIsNull || holdsNull || (isUnset && !omitUnset), mayBeAbsent: isUnset && omitUnset };
}

/** A field of an answer is there unless it is declared optional, or one of several. Updates alone may leave out a required one. */
function mayBeUnset(field: DescField): boolean {
  return ((field.proto.proto3Optional ?? false) && !isNeeded(field)) || field.oneof !== undefined;
}

/** True for a field that what exists always has. */
export function isNeeded(field: DescField): boolean {
  return hasOption(field, field_behavior) && getOption(field, field_behavior).includes(FieldBehavior.REQUIRED);
}

function memberOf(field: DescField): Member {
  const isUnnamed = isJsonText(field) && restFlags(field).inline;
  return { name: isUnnamed ? null : restName(field), kind: kindOf(field), comment: commentOf(field) };
}

/** The comment in front of a declaration, as one line. */
export function commentOf(desc: Parameters<typeof getComments>[0]): string {
  return (getComments(desc).leading ?? '').trim().replace(/\s*\n\s*/g, ' ');
}

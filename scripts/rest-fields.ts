/** Fields of messages as rows of a table: the member's name, its type, what it may hold, and its comment. */

import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { type FieldRules, field as fieldRules } from '../gen/buf/validate/validate_pb.js';
import { enumSpellings, isDeclared, isJsonText, isMask, restFlags, restName, typeWord } from '../src/rpc/rest-shape.ts';
import type { CommentOf } from './proto-comments.ts';

/** The fields that are members of an object over REST, those of messages written in place of a member included. */
export function membersOf(desc: DescMessage): DescField[] {
  return desc.fields
    .filter((field) => !isMask(field))
    .flatMap((field) => (isInlineMessage(field) ? membersOf(field.message) : [field]));
}

type InlineMessage = DescField & { readonly fieldKind: 'message' };

export function isInlineMessage(field: DescField): field is InlineMessage {
  return field.fieldKind === 'message' && restFlags(field).inline;
}

/** A row for a member of something that is sent. */
export function sentRow(field: DescField, commentOf: CommentOf): string {
  const rules = hasOption(field, fieldRules) ? getOption(field, fieldRules) : null;
  const limits = [rules?.required ? '**required**' : '', ...(rules ? limitsOf(rules) : [])].filter(
    (each) => each !== '',
  );
  return `| ${nameOf(field)} | ${typeOf(field)} | ${limits.join('; ')} | ${commentOf(field)} |`;
}

/** A row for a member of an answer. */
export function answeredRow(field: DescField, commentOf: CommentOf): string {
  const { omitUnset, emptyIsNull, inline } = restFlags(field);
  const isUnnamed = isJsonText(field) && inline;
  const mayBeUnset = (field.proto.proto3Optional ?? false) && !isUnnamed;
  const empty = (mayBeUnset && !omitUnset) || emptyIsNull ? ' or null' : '';
  const absent = mayBeUnset && omitUnset ? ', may be absent' : '';
  return `| ${nameOf(field)} | ${typeOf(field)}${empty}${absent} | ${commentOf(field)} |`;
}

/** The objects that a field holds, each with a section of its own. */
export function objectOf(field: DescField): DescMessage | null {
  return field.message && isDeclared(field.message) ? field.message : null;
}

function nameOf(field: DescField): string {
  return isJsonText(field) && restFlags(field).inline ? 'any other' : `\`${restName(field)}\``;
}

function typeOf(field: DescField): string {
  if (field.fieldKind === 'list') return `array of ${wordOf(field)}`;
  return wordOf(field);
}

function wordOf(field: DescField): string {
  if (field.message?.typeName === TimestampSchema.typeName) return 'timestamp';
  const object = objectOf(field);
  if (object) return `[${object.name}](#${object.name.toLowerCase()})`;
  if (field.enum) return [...enumSpellings(field.enum).keys()].map((text) => `\`${text}\``).join(', ');
  if (isJsonText(field)) return 'JSON';
  if (field.message) return 'object';
  return field.fieldKind === 'list' ? scalarWord(field) : typeWord(field);
}

/** Of the items of a list. */
function scalarWord(field: DescField & { readonly fieldKind: 'list' }): string {
  const text = 9;
  if (field.scalar === text) return 'string';
  throw new Error(`${field.parent.typeName}.${field.name}: lists of this type have no word yet`);
}

function limitsOf({ type }: FieldRules): string[] {
  if (type.case === 'string') {
    const { minLen, maxLen, pattern } = type.value;
    return [range(minLen, maxLen, 'characters'), pattern === '' ? '' : `\`${pattern.replaceAll('|', '\\|')}\``];
  }
  if (type.case === 'repeated') {
    const { minItems, maxItems, items } = type.value;
    const each = items ? limitsOf(items).map((limit) => (limit === '' ? '' : `each ${limit}`)) : [];
    return [range(minItems, maxItems, 'items'), ...each];
  }
  if (type.case !== 'int32' && type.case !== 'int64') return [];
  const { lessThan, greaterThan } = type.value;
  return [`${greaterThan.value ?? ''} to ${lessThan.value ?? ''}`];
}

/** Zero is no bound, as it is unset. */
function range(min: bigint, max: bigint, of: string): string {
  if (min === 0n && max === 0n) return '';
  if (max === 0n) return `at least ${min} ${min === 1n ? of.slice(0, -1) : of}`;
  return min === 0n ? `at most ${max} ${of}` : `${min} to ${max} ${of}`;
}

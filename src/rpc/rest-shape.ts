/**
 * How messages look over REST: member names, spellings of enum values, and whether a request field is in the path, the
 * query or the body. Derived from the annotations once per descriptor. Errors over every transport name fields as REST does.
 */

import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import { FieldMaskSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { http } from '../../gen/google/api/annotations_pb.js';
import { FieldBehavior, field_behavior } from '../../gen/google/api/field_behavior_pb.js';
import type { HttpRule } from '../../gen/google/api/http_pb.js';
import {
  type FieldRest,
  RestCase,
  range_end,
  rest,
  rest_case,
  rest_merged,
  rest_unavailable,
  spelling,
} from '../../gen/spandrel/v1/options_pb.js';

/** The same function, which computes its result once for each descriptor: reading options is slow. */
export function cached<D extends object, V>(compute: (desc: D) => V): (desc: D) => V {
  const known = new WeakMap<D, V>();
  return (desc) => {
    let found = known.get(desc);
    if (found === undefined) {
      found = compute(desc);
      known.set(desc, found);
    }
    return found;
  };
}

const JSON_SUFFIX = '_json';

/** True for a string field that holds JSON text, which REST shows as that JSON itself. */
export function isJsonText(field: DescField): boolean {
  return field.fieldKind === 'scalar' && field.name.endsWith(JSON_SUFFIX);
}

/** True for a FieldMask, which names the fields that an update sends; over REST it is derived from the body. */
export function isMask(field: DescField): boolean {
  return field.fieldKind === 'message' && field.message.typeName === FieldMaskSchema.typeName;
}

/** True for messages of our contract; google.protobuf messages stand for one value. */
export function isDeclared({ typeName }: DescMessage): boolean {
  return !typeName.startsWith('google.protobuf.');
}

/** The member name of a field. */
export const restName = cached((field: DescField): string => {
  const named = hasOption(field, rest) ? getOption(field, rest).name : '';
  if (named !== '') return named;
  const stem = isJsonText(field) ? field.name.slice(0, -JSON_SUFFIX.length) : field.name;
  return getOption(field.parent.file, rest_case) === RestCase.CAMEL ? toCamel(stem) : stem;
});

/** The path of a field in REST names; `parent` is the path of its message. */
export function pathIn(parent: string, field: DescField): string {
  if (isInlineMessage(field) || valueFieldOf(field.parent) === field) return parent;
  return parent === '' ? restName(field) : `${parent}.${restName(field)}`;
}

/** The REST options of a field: see FieldRest. */
export const restFlags = cached((field: DescField): RestFlags => {
  return hasOption(field, rest) ? getOption(field, rest) : NO_FLAGS;
});

type RestFlags = Omit<FieldRest, 'name' | `$${string}`>;

const NO_FLAGS: RestFlags = {
  omitUnset: false,
  inline: false,
  emptyIsNull: false,
  epochMs: false,
  pageNumber: false,
  hidden: false,
  omit: [],
  also: [],
  header: '',
  endOfDay: false,
  byName: false,
  unsetIsEmpty: false,
  oneSlash: false,
  answeredAs: [],
};

/** The members that requests over REST may not have: see rest_unavailable. */
export const unavailableMembers = cached((desc: DescMessage): readonly string[] => {
  return hasOption(desc, rest_unavailable) ? getOption(desc, rest_unavailable) : [];
});

export type MessageField = DescField & { readonly fieldKind: 'message' };

/** True for an end of a time range. */
export function isRangeEnd(field: DescField): boolean {
  return hasOption(field, range_end) && getOption(field, range_end);
}

/** True for a message whose members are written into the object around it. */
export function isInlineMessage(field: DescField): field is MessageField {
  return field.fieldKind === 'message' && isDeclared(field.message) && restFlags(field).inline;
}

/** The inline messages of a oneof that share one place; empty where they do not. See rest_merged. */
export function mergedFields(oneof: DescOneof | undefined): readonly MessageField[] {
  return oneof === undefined ? [] : mergedIn(oneof);
}

const mergedIn = cached((oneof: DescOneof): readonly MessageField[] => {
  return hasOption(oneof, rest_merged) && getOption(oneof, rest_merged) ? oneof.fields.filter(isInlineMessage) : [];
});

/** The only field that a message has over REST, where the message is written as its value; null for any other message. */
export const valueFieldOf = cached(({ fields }: DescMessage): DescField | null => {
  const [only, ...others] = fields.filter((field) => !restFlags(field).hidden);
  const isAlone = only !== undefined && others.length === 0 && restFlags(only).inline;
  return isAlone && !isInlineMessage(only) && !isJsonText(only) ? only : null;
});

/** True for a field that only responses have; it is ignored in requests. */
export function isOutputOnly(field: DescField): boolean {
  return hasBehavior(field, FieldBehavior.OUTPUT_ONLY);
}

export function hasBehavior(field: DescField, behavior: FieldBehavior): boolean {
  return behaviorsOf(field).includes(behavior);
}

const behaviorsOf = cached((field: DescField): readonly FieldBehavior[] => {
  return hasOption(field, field_behavior) ? getOption(field, field_behavior) : [];
});

/** The fields of a message that requests may set. */
export const sendableFields = cached(({ fields }: DescMessage): readonly DescField[] => {
  return fields.filter((field) => !isOutputOnly(field));
});

/** The field of an update that holds the resource; the paths of the mask are relative to it. */
export function resourceField({ fields }: DescMessage): MessageField | null {
  return fields.some(isMask) ? (fields.find(isInlineMessage) ?? null) : null;
}

/** The REST spellings of an enum with their numbers; the unspecified value has none. */
export const enumSpellings = cached(({ values }: DescEnum): ReadonlyMap<string, number> => {
  const spelled = values.filter((value) => hasOption(value, spelling));
  return new Map(spelled.map((value) => [getOption(value, spelling), value.number]));
});

/** The REST spellings of an enum by number. */
export const enumNames = cached((desc: DescEnum): ReadonlyMap<number, string> => {
  return new Map([...enumSpellings(desc)].map(([word, number]) => [number, word]));
});

/** The route of an rpc in the contract, without a pattern where it has none. */
export const httpRule = cached((method: DescMethod): HttpRule => getOption(method, http));

export type Target = 'json' | 'query' | 'param';

/** Where each field of a request is sent: as a path parameter, in the body, or in the query. */
export const requestTargets = cached((method: DescMethod): ReadonlyMap<DescField, Target> => {
  const rule = hasOption(method, http) ? httpRule(method) : null;
  const inPath = new Set(rule ? [rule, ...rule.additionalBindings].flatMap(pathFieldsOf) : []);
  const rest: Target = rule?.body ? 'json' : 'query';
  return new Map(method.input.fields.map((field) => [field, inPath.has(field.name) ? 'param' : rest]));
});

function pathFieldsOf(rule: HttpRule): readonly string[] {
  const { template, constants } = routeOf(rule);
  return [...pathParameters(template), ...Object.keys(constants)];
}

type RuleRoute = {
  readonly verb: string;
  /** With the literal in place of a parameter that has only one value. */
  readonly template: string;
  /** The values of fields that this path implies, by field name. */
  readonly constants: Readonly<Record<string, string>>;
};

const CONSTANT = /\{([a-z0-9_]+)=([a-z0-9_-]+)\}/g;

/** The HTTP method and path template of one rule; `{kind=cats}` in the template stands for the literal `cats`, and sets the field. */
export function routeOf(rule: HttpRule): RuleRoute {
  const { pattern } = rule;
  if (pattern.case === undefined) throw new Error('an http rule has no pattern');
  const constants = [...pattern.value.matchAll(CONSTANT)].map(([, name = '', literal = '']) => [name, literal]);
  return {
    verb: pattern.case.toUpperCase(),
    template: pattern.value.replace(CONSTANT, '$2'),
    constants: Object.fromEntries(constants),
  };
}

/** The field names in braces, in order. */
export function pathParameters(template: string): string[] {
  return [...template.matchAll(/\{([a-z0-9_]+)\}/g)].map((match) => match[1] ?? '');
}

/** The name of a field's type in error reasons. */
export function typeName(field: DescField): string {
  if (field.fieldKind === 'list') return 'array';
  if (field.fieldKind === 'message') return messageTypeName(field);
  if (field.fieldKind === 'map') return 'object';
  if (field.fieldKind === 'enum') return 'string';
  if (isJsonText(field)) return 'object';
  return restFlags(field).pageNumber ? 'integer' : scalarTypeName(field);
}

function messageTypeName(field: MessageField): string {
  if (isTimestamp(field.message)) return restFlags(field).epochMs ? 'integer' : 'timestamp';
  const value = valueFieldOf(field.message);
  return value === null ? 'object' : typeName(value);
}

/** True for an instant. */
export function isTimestamp({ typeName }: DescMessage): boolean {
  return typeName === TimestampSchema.typeName;
}

function scalarTypeName(field: DescField & { fieldKind: 'scalar' }): string {
  const word = SCALAR_TYPE_NAMES.get(field.scalar);
  if (!word) throw new Error(`${field.parent.typeName}.${field.name}: scalar type without a REST form`);
  return word;
}

/** By the numbers of google.protobuf.FieldDescriptorProto.Type. */
const SCALAR_TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'number'],
  [2, 'number'],
  [3, 'integer'],
  [4, 'integer'],
  [5, 'integer'],
  [8, 'boolean'],
  [9, 'string'],
  [13, 'integer'],
]);

function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Members as JSON Schema 2020-12, as in OpenAPI 3.1. Objects are components, so clients have one type for each. */

import { isDeepStrictEqual } from 'node:util';
import type { DescMessage } from '@bufbuild/protobuf';
import { canBeUnset } from '../../src/transport/rest/update-mask.ts';
import type { Json, Kind } from '../contract/kinds.ts';
import type { Limits, Range } from '../contract/limits.ts';
import {
  type AnsweredMember,
  answeredMembers,
  commentOf,
  isNeeded,
  type SentMember,
  sentMembers,
} from '../contract/members.ts';
import type { Operation } from '../contract/operations.ts';

export type Schema = { readonly [keyword: string]: Json };

export type Schemas = {
  /** The schema of an answer's value. */
  ofAnswer(kind: Kind): Schema;
  ofAnsweredMembers(members: readonly AnsweredMember[]): Schema;
  ofSentMembers(members: readonly SentMember[], nulls: Operation['nulls']): Schema;
  ofParameter(member: SentMember): Schema;
  /** All referenced components, by name. */
  components(): { readonly [name: string]: Schema };
};

const INTEGER_MAX = Number.MAX_SAFE_INTEGER;

export function createSchemas(): Schemas {
  const answered = new Map<string, Component>();
  const sent = new Map<string, Component>();

  function ofAnswer(kind: Kind): Schema {
    if (kind.kind === 'array') return { type: 'array', items: ofAnswer(kind.of) };
    if (kind.kind === 'map') return { type: 'object', additionalProperties: ofAnswer(kind.of) };
    if (kind.kind !== 'object') return valueSchema(kind);
    const { desc, omit } = kind;
    const name = `${desc.name}${omit.map((each) => `Without${pascal(each)}`).join('')}`;
    return refer(answered, { name, desc }, () => ofAnsweredMembers(answeredMembers(desc, omit)));
  }

  function ofAnsweredMembers(members: readonly AnsweredMember[]): Schema {
    const properties = members.flatMap(({ name, kind, comment, nullable }) => {
      const schema = ofAnswer(kind);
      return name === null ? [] : [[name, about(nullable ? orNull(schema) : schema, comment)] as const];
    });
    const required = members.flatMap(({ name, mayBeAbsent }) => (name === null || mayBeAbsent ? [] : [name]));
    const isOpen = members.some(({ name }) => name === null);
    return objectSchema(Object.fromEntries(properties), required, isOpen);
  }

  function ofSentMembers(members: readonly SentMember[], nulls: Operation['nulls']): Schema {
    const properties = members.flatMap((member) => {
      const { name, comment, field } = member;
      if (name === null) return [];
      const schema = sentSchema(member, nulls);
      const takesNull = nulls === 'absent' || (nulls === 'unset' && canBeUnset(field) && !isNeeded(field));
      return [[name, about(takesNull ? orNull(schema) : schema, comment)] as const];
    });
    const required = members.flatMap(({ name, limits }) => (name !== null && limits.required ? [name] : []));
    return objectSchema(Object.fromEntries(properties), required, false);
  }

  function sentSchema({ kind, limits, also }: SentMember, nulls: Operation['nulls']): Schema {
    const schema = limited(kind, limits, nulls);
    if (also.length === 0) return schema;
    const others = also.map((type): Schema => (type === 'any' ? {} : { type }));
    if (kind.kind !== 'array') return { anyOf: [schema, ...others] };
    return { ...schema, items: { anyOf: [limited(kind.of, { required: false }, nulls), ...others] } };
  }

  function limited(kind: Kind, limits: Limits, nulls: Operation['nulls']): Schema {
    if (kind.kind === 'array') {
      const items = limited(kind.of, limits.each ?? { required: false }, nulls);
      return { type: 'array', items, ...bounds(limits.items, 'minItems', 'maxItems') };
    }
    if (kind.kind === 'object') {
      const { desc } = kind;
      const schema = about(ofSentMembers(sentMembers(desc.fields), nulls), commentOf(desc));
      return referEqual(sent, desc, schema);
    }
    if (kind.kind === 'map') throw new Error('maps are not sent');
    if (kind.kind === 'timestamp') return SENT_INSTANT;
    return {
      ...valueSchema(kind),
      ...bounds(limits.length, 'minLength', 'maxLength'),
      ...bounds(limits.value, 'minimum', 'maximum'),
      ...(limits.pattern !== undefined && { pattern: limits.pattern }),
    };
  }

  return {
    ofAnswer,
    ofAnsweredMembers,
    ofSentMembers,
    ofParameter: ({ kind, limits }) => ({
      ...limited(kind, limits, 'refused'),
      ...(kind.kind === 'integer' && limits.value?.min === undefined && { minimum: 0 }),
    }),
    components() {
      const all = [...answered, ...sent].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return Object.fromEntries(all.map(([name, { schema }]) => [name, schema]));
    },
  };
}

type Component = { readonly desc: DescMessage; schema: Schema };
type Named = { readonly name: string; readonly desc: DescMessage };

/** Creates a component once. A recursive one refers to its own name. */
function refer(components: Map<string, Component>, { name, desc }: Named, make: () => Schema): Schema {
  const known = components.get(name);
  if (known && known.desc !== desc)
    throw new Error(`${desc.typeName} and ${known.desc.typeName} would both be ${name}`);
  if (!known) {
    const component: Component = { desc, schema: {} };
    components.set(name, component);
    component.schema = about(make(), commentOf(desc));
  }
  return { $ref: `#/components/schemas/${name}` };
}

/** Whether null is allowed depends on the route, so a message can have two schemas. */
function referEqual(components: Map<string, Component>, desc: DescMessage, schema: Schema): Schema {
  const names = [`${desc.name}Input`, `${desc.name}Patch`];
  const name = names.find((each) => isDeepStrictEqual(components.get(each)?.schema ?? schema, schema));
  if (name === undefined) throw new Error(`${desc.typeName}: a third schema for what is sent has no name`);
  components.set(name, { desc, schema });
  return { $ref: `#/components/schemas/${name}` };
}

/** Answers use UTC with milliseconds; requests may use other forms too. */
const SENT_INSTANT: Schema = {
  anyOf: [
    { type: 'string', description: 'RFC 3339; without an offset UTC is meant, and a bare date is its midnight.' },
    { type: 'integer', format: 'int64', description: 'Milliseconds since the Unix epoch.' },
  ],
};

const STRINGS: Schema = { type: ['array', 'null'], items: { type: 'string' } };

function valueSchema(kind: Exclude<Kind, { kind: 'array' | 'map' | 'object' }>): Schema {
  switch (kind.kind) {
    case 'lists':
      return {
        type: 'object',
        additionalProperties: { anyOf: [STRINGS, { type: 'object', additionalProperties: STRINGS }] },
      };
    case 'enum':
      return { type: 'string', enum: kind.values };
    case 'constant':
      return { const: kind.value };
    case 'integer':
      return kind.bits === 32 ? { type: 'integer', format: 'int32' } : wholeNumber();
    case 'milliseconds':
      return { ...wholeNumber(), description: 'Milliseconds since the Unix epoch.' };
    case 'timestamp':
      return { type: 'string', format: 'date-time' };
    case 'number':
      return { type: 'number', format: 'double' };
    case 'json':
      return {};
    default:
      return { type: kind.kind };
  }
}

function wholeNumber(): Schema {
  return { type: 'integer', format: 'int64', minimum: -INTEGER_MAX, maximum: INTEGER_MAX };
}

function bounds(range: Range | undefined, min: string, max: string): Schema {
  if (!range) return {};
  return { ...(range.min !== null && { [min]: range.min }), ...(range.max !== null && { [max]: range.max }) };
}

export function orNull(schema: Schema): Schema {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(values)) return { ...schema, type: [...[type ?? []].flat(), 'null'], enum: [...values, null] };
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  return '$ref' in schema ? { anyOf: [schema, { type: 'null' }] } : schema;
}

function objectSchema(
  properties: { readonly [name: string]: Schema },
  required: readonly string[],
  isOpen: boolean,
): Schema {
  return {
    type: 'object',
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(isOpen && { additionalProperties: true }),
  };
}

function about(schema: Schema, comment: string): Schema {
  return comment === '' ? schema : { ...schema, description: comment };
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

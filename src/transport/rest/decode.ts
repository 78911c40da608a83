/** Path, query and body -> request message, by descriptor. Collects every problem, not only the first. */

import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import type { JsonValue } from '../../domain/fault.ts';
import { wholeNumberOf } from '../../json/whole-number.ts';
import { isRequired, itemsExpected } from '../../rpc/field-rules.ts';
import { messageOf } from '../../rpc/field-values.ts';
import {
  isDeclared,
  isInlineMessage,
  isJsonText,
  isMask,
  isTimestamp,
  restFlags,
  restName,
  sendableFields,
  typeName,
  valueFieldOf,
} from '../../rpc/rest-shape.ts';
import { unavailableProblems } from '../../rpc/unknown-members.ts';
import type { Problem } from '../../rpc/validate.ts';
import {
  type Context,
  isDigits,
  numberOf,
  readEnum,
  readEpochMs,
  readInstant,
  readJsonText,
  readPageNumber,
  readString,
  toInteger,
  typeOf,
  wrongJson,
  wrongLength,
  wrongType,
} from './decode-values.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { isChosen } from './merged-members.ts';
import { canBeUnset, deriveMask } from './update-mask.ts';

type Parts = {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly header?: (name: string) => string | undefined;
  /** The parsed body, numbers in their spelling; null when the route takes none. */
  readonly body: JsonObject | null;
  readonly nullIsAbsent: boolean;
  /** Whether null clears a scalar although the request has no mask. */
  readonly nullUnsets?: boolean;
};

type DecodedMessage = { readonly message: Message; readonly problems: readonly Problem[] };

/** Items of any list; the rules of single fields may allow fewer. */
const LIST_MAX = 10_000;

/** A field is read from the path where it is a parameter, otherwise from the body, or from the query where the route takes no body. */
export function decodeMessage(desc: DescMessage, parts: Parts): DecodedMessage {
  const problems: Problem[] = [];
  const resolved = { ...parts, nullUnsets: parts.nullUnsets === true || desc.fields.some(isMask) };
  return { message: readMembers(desc, resolved, problems), problems };
}

/** An update has a mask, which distinguishes a field sent without a value from one that is not sent. */
type ResolvedParts = Parts & { readonly nullUnsets: boolean };

function readField(field: DescField, parts: ResolvedParts, problems: Problem[]): unknown {
  if (isInlineMessage(field)) return readMembers(field.message, { ...parts, parameters: {} }, problems);
  const name = restName(field);
  const parameter = Object.hasOwn(parts.parameters, field.name) ? parts.parameters[field.name] : undefined;
  if (parameter !== undefined) return readText(field, parameter, { path: name, target: 'param', problems });
  if (restFlags(field).hidden) return undefined;
  if (parts.body) {
    if (!Object.hasOwn(parts.body, name)) return readHeader(field, parts, problems);
    const { nullIsAbsent, nullUnsets } = parts;
    const at = { path: name, target: 'json' as const, problems, nullIsAbsent, nullUnsets };
    return readJson(field, parts.body[name] as JsonValue, at);
  }
  const values = parts.query.getAll(name);
  const { header } = restFlags(field);
  const [value = header === '' ? undefined : parts.header?.(header)] = values;
  if (value === undefined) return undefined;
  if (values.length > 1) {
    problems.push({ field: name, target: 'query', type: 'custom', message: `${name} must be sent once` });
    return undefined;
  }
  return readText(field, value, { path: name, target: 'query', problems });
}

/** The entity tag of a state is written in quotes. */
function readHeader(field: DescField, { header }: ResolvedParts, problems: Problem[]): unknown {
  const name = restFlags(field).header;
  const value = name === '' ? undefined : header?.(name)?.trim();
  if (value === undefined) return undefined;
  return readText(field, value.replace(/^"(.*)"$/, '$1'), { path: name, target: 'header', problems });
}

/** A request, or an inline message of it, whose fields are members of the body too. */
function readMembers(desc: DescMessage, parts: ResolvedParts, problems: Problem[]): Message {
  const values = new Map<DescField, unknown>();
  if (parts.body) problems.push(...unavailableProblems(desc, parts.body, ''));
  for (const field of sendableFields(desc)) {
    const value = isMask(field) ? deriveMask(desc, parts) : readField(field, parts, problems);
    if (value !== undefined) values.set(field, value);
  }
  return messageOf(desc, values);
}

type JsonContext = Context & { readonly nullIsAbsent: boolean; readonly nullUnsets: boolean };

/** A path segment or a query value. */
function readText(field: DescField, text: string, at: Context): unknown {
  if (field.fieldKind === 'enum') return readEnum(field, text, at);
  if (isByName(field)) return readByName(field, readJsonText(text), at);
  if (isEpochMs(field)) return readEpochMs(isDigits(text) ? Number(text) : null, 'string', at);
  if (field.fieldKind === 'message' && isTimestamp(field.message)) return readInstant(field, text, at);
  if (field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING) {
    return text === '' ? [] : text.split(',', LIST_MAX).map((item) => readString(item, at));
  }
  if (field.fieldKind !== 'scalar')
    throw new Error(`${field.parent.typeName}.${field.name} cannot travel in a path or query`);
  if (field.scalar === ScalarType.STRING) {
    if (!restFlags(field).pageNumber) return readString(text, at);
    return isDigits(text) ? readPageNumber(Number(text), at) : wrongType(at, 'integer', 'string');
  }
  if (field.scalar === ScalarType.BOOL) {
    if (text === 'true' || text === 'false') return text === 'true';
    return wrongType(at, 'boolean', 'string');
  }
  return isDigits(text) ? toInteger(field, Number(text), at) : wrongType(at, 'integer', 'string');
}

type NamedLists = DescField & { readonly fieldKind: 'list'; readonly listKind: 'message' };

function isByName(field: DescField): field is NamedLists {
  return field.fieldKind === 'list' && field.listKind === 'message' && restFlags(field).byName;
}

type SentList = { readonly name: string; readonly key?: string; readonly values: JsonValue; readonly path: string };

/** The messages that one object stands for: see by_name in the contract. Lists that are null are left out. */
function readByName(field: NamedLists, value: JsonValue | undefined, at: Context): unknown {
  if (value === undefined) return wrongJson(at);
  if (!isJsonObject(value)) return value === null ? undefined : wrongType(at, 'object', typeOf(value));
  const lists = Object.entries(value).flatMap(([name, held]): SentList[] =>
    isJsonObject(held)
      ? Object.entries(held).map(([key, values]) => ({ name, key, values, path: `${at.path}.${name}.${key}` }))
      : [{ name, values: held, path: `${at.path}.${name}` }],
  );
  if (lists.length > LIST_MAX) return wrongLength(at, `at most ${LIST_MAX} members`);
  const { values: itemsField } = field.message.field;
  if (itemsField === undefined) throw new Error(`${field.message.typeName} has no values`);
  const sent = lists.filter(({ values }) => values !== null);
  return sent.map(({ path, values, ...named }) => {
    const items = readJson(itemsField, values, { ...at, path, nullIsAbsent: false, nullUnsets: false });
    return create(field.message, { ...named, values: items ?? [] });
  });
}

function readJson(field: DescField, value: JsonValue, at: JsonContext): unknown {
  if (isByName(field)) return readByName(field, value, at);
  const only = field.fieldKind === 'message' ? valueFieldOf(field.message) : null;
  if (only !== null && field.message !== undefined) {
    // The contract marks the lists that may be null as optional.
    const mayBeNull = field.proto.proto3Optional && at.nullUnsets && canBeUnset(field);
    if (value === null && only.fieldKind === 'list' && mayBeNull) return undefined;
    const held = readJson(only, value, at);
    // A message without its value stands for null, unless null counts as absent.
    return held === undefined && at.nullIsAbsent ? undefined : create(field.message, { [only.localName]: held });
  }
  if (value === null && !isJsonText(field)) {
    if (at.nullIsAbsent || (at.nullUnsets && canBeUnset(field))) return undefined;
    return wrongType(at, typeName(field), 'null');
  }
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) return wrongType(at, 'array', typeOf(value));
    if (value.length > LIST_MAX) return wrongLength(at, `at most ${LIST_MAX} items`);
    // Checked here: in a message, an empty list looks like one that was not sent, which is a different problem.
    if (value.length === 0 && isRequired(field)) return wrongLength(at, itemsExpected(field));
    // An unreadable item becomes an empty one, so that later problems keep their index.
    return value.map((item, index) => readOne(field, item, { ...at, path: `${at.path}.${index}` }) ?? emptyItem(field));
  }
  return readOne(field, value, at);
}

function readOne(field: DescField, value: JsonValue, at: JsonContext): unknown {
  if (field.fieldKind === 'message' || (field.fieldKind === 'list' && field.listKind === 'message')) {
    if (isEpochMs(field)) return readEpochMs(wholeNumberOf(value), typeOf(value), at);
    return isTimestamp(field.message) ? readInstant(field, value, at) : readObject(field.message, value, at);
  }
  if (isJsonText(field)) return value === null && at.nullIsAbsent ? undefined : JSON.stringify(value);
  if (field.enum)
    return typeof value === 'string' ? readEnum(field, value, at) : wrongType(at, 'string', typeOf(value));
  if (field.scalar === ScalarType.STRING) {
    if (restFlags(field).pageNumber) {
      const whole = wholeNumberOf(value);
      return whole === null ? wrongType(at, 'integer', typeOf(value)) : readPageNumber(whole, at);
    }
    return typeof value === 'string' ? readString(value, at) : wrongType(at, 'string', typeOf(value));
  }
  if (field.scalar === ScalarType.BOOL)
    return typeof value === 'boolean' ? value : wrongType(at, 'boolean', typeOf(value));
  if (field.scalar === ScalarType.DOUBLE) {
    const number = numberOf(value);
    return number === null ? wrongType(at, 'number', typeOf(value)) : number;
  }
  const whole = wholeNumberOf(value);
  return whole === null ? wrongType(at, 'integer', typeOf(value)) : toInteger(field, whole, at);
}

function readObject(desc: DescMessage, value: JsonValue, at: JsonContext): unknown {
  if (!isDeclared(desc)) throw new Error(`${desc.typeName} has no REST request form`);
  if (!isJsonObject(value)) return wrongType(at, 'object', typeOf(value));
  return messageOf(desc, readValues(desc, value, at));
}

/** The values of an object's members. An inline message is set when the object has a value for one of its members. */
function readValues(desc: DescMessage, object: JsonObject, at: JsonContext): ReadonlyMap<DescField, unknown> {
  const values = new Map<DescField, unknown>();
  at.problems.push(...unavailableProblems(desc, object, `${at.path}.`));
  for (const field of sendableFields(desc)) {
    if (isInlineMessage(field)) {
      if (!isChosen(field, object)) continue;
      const inside = readValues(field.message, object, at);
      if (inside.size > 0) values.set(field, messageOf(field.message, inside));
      continue;
    }
    const name = restName(field);
    if (!Object.hasOwn(object, name)) continue;
    const value = readJson(field, object[name] as JsonValue, { ...at, path: `${at.path}.${name}` });
    if (value !== undefined) values.set(field, value);
  }
  return values;
}

function isEpochMs(field: DescField): boolean {
  return field.message !== undefined && isTimestamp(field.message) && restFlags(field).epochMs;
}

function emptyItem(field: DescField): unknown {
  if (field.message) return create(field.message);
  return field.scalar === ScalarType.STRING ? '' : 0;
}

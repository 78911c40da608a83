/** Message -> JSON text, by descriptor: one writer per message, compiled once. */

import { type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { msOfTimestamp } from '../../rpc/epoch-ms.ts';
import {
  enumSpellings,
  isJsonText,
  isTimestamp,
  mergedFields,
  restFlags,
  restName,
  valueFieldOf,
} from '../../rpc/rest-shape.ts';
import { type Member, type Members, membersOf, reader } from './members.ts';
import { compileMerged } from './merged-members.ts';

type ValueWriter = (value: never) => string;

const compiled = new WeakMap<DescMessage, Members>();
const NONE: ReadonlySet<string> = new Set();

/** Compiles a writer of a message as one JSON object, without the top-level members in `omit`; a message of one inline list becomes an array. */
export function compileEncoder(desc: DescMessage, omit: ReadonlySet<string> = NONE): (message: Message) => string {
  const write = compileChunks(desc, omit);
  return (message) => [...write(message)].join('');
}

const compiledChunks = new WeakMap<DescMessage, WriteChunks>();

/** The same as a generator of chunks: each is one member, or one item of a list. */
export function compileChunks(desc: DescMessage, omit: ReadonlySet<string> = NONE): WriteChunks {
  const cached = omit.size === 0 ? compiledChunks.get(desc) : undefined;
  if (cached) return cached;
  const list = bareListOf(desc);
  const write = list === null ? inBraces(compileMemberChunks(desc, omit)) : compileItems(list);
  if (omit.size === 0) compiledChunks.set(desc, write);
  return write;
}

export type WriteChunks = (message: Message) => Generator<string>;

/** Members have a comma before each of them. */
function inBraces(write: WriteChunks): WriteChunks {
  return function* (message) {
    let begin = '{';
    for (const chunk of write(message)) {
      if (chunk === '') continue;
      yield begin === '' ? chunk : begin + chunk.slice(1);
      begin = '';
    }
    yield `${begin}}`;
  };
}

type MessageList = DescField & { readonly fieldKind: 'list'; readonly listKind: 'message' };

function isMessageList(field: DescField): field is MessageList {
  return field.fieldKind === 'list' && field.listKind === 'message';
}

/** The only field of a message that has a REST form, where it is an inline list; null otherwise. */
function bareListOf(desc: DescMessage): MessageList | null {
  const only = valueFieldOf(desc);
  return only && isMessageList(only) ? only : null;
}

/** The items of a message that is a bare list, each as its JSON text. */
export function compileItemTexts(desc: DescMessage): WriteChunks {
  const list = bareListOf(desc);
  if (list === null) throw new Error(`${desc.typeName} is not a bare list`);
  return compileTexts(list);
}

function compileTexts(field: MessageList): WriteChunks {
  const read = reader(field);
  const writeItem = singleWriter(field, field.message, new Set(restFlags(field).omit)) as (item: unknown) => string;
  return function* (message) {
    for (const item of read(message) as readonly unknown[]) yield writeItem(item);
  };
}

function compileItems(field: MessageList, begin = ''): WriteChunks {
  const write = compileTexts(field);
  return function* (message) {
    let before = `${begin}[`;
    for (const item of write(message)) {
      yield before + item;
      before = ',';
    }
    yield before === ',' ? ']' : `${before}]`;
  };
}

function compileMemberChunks(desc: DescMessage, omit: ReadonlySet<string>): WriteChunks {
  const writers = membersOf(desc, omit).map((member) => compileChunksOf(member, omit));
  return function* (message) {
    for (const write of writers) {
      const chunks = write(message);
      if (typeof chunks === 'string') yield chunks;
      else yield* chunks;
    }
  };
}

function compileChunksOf(member: Member, omit: ReadonlySet<string>): (message: Message) => string | Iterable<string> {
  if (member.kind !== 'field') return compileMember(member, omit);
  const { field } = member;
  if (mergedFields(field.oneof).length > 0) return compileMember(member, omit);
  if (restFlags(field).inline && field.fieldKind === 'message') {
    const read = reader(field);
    const write = compileMemberChunks(field.message, omit);
    return (message) => {
      const value = read(message) as Message | undefined;
      return value === undefined ? '' : write(value);
    };
  }
  return isMessageList(field) && !restFlags(field).byName
    ? compileItems(field, `,${JSON.stringify(restName(field))}:`)
    : compileMember(member, omit);
}

function braced(members: string): string {
  return `{${members.slice(1)}}`;
}

function writerOf(desc: DescMessage): Members {
  let members = compiled.get(desc);
  if (!members) {
    // Set before compiling, so that a recursive message finds its own writer.
    const late: Members = (message) => (members ?? late)(message);
    compiled.set(desc, late);
    members = compileMembers(desc, NONE);
    compiled.set(desc, members);
  }
  return members;
}

function compileMembers(desc: DescMessage, omit: ReadonlySet<string>): Members {
  const writers = membersOf(desc, omit).map((member) => compileMember(member, omit));
  return (message) => {
    let text = '';
    for (const write of writers) text += write(message);
    return text;
  };
}

function compileMember(member: Member, omit: ReadonlySet<string>): Members {
  if (member.kind === 'json') {
    const text = `,${JSON.stringify(member.name)}:${member.json}`;
    return () => text;
  }
  if (member.kind === 'case') return compileCase(member);
  if (member.kind === 'copy') {
    const write = compileNamed({ ...member, without: NONE });
    return (message) => {
      let inner: Message | undefined = message;
      for (const step of member.inside) inner = inner && (step(inner) as Message | undefined);
      return inner === undefined ? '' : write(inner);
    };
  }
  const { field } = member;
  const { inline, omit: without } = restFlags(field);
  const merged = mergedFields(field.oneof);
  if (merged.length > 0) return merged[0] === field ? compileMerged(merged, omit, compileMember) : () => '';
  if (inline) return compileInline(field, reader(field), omit);
  return compileNamed({ field, name: restName(field), without: new Set(without) });
}

function compileCase({ name, oneof }: Extract<Member, { kind: 'case' }>): Members {
  const cases = oneof.fields.map((field) => ({ read: reader(field), name: JSON.stringify(restName(field)) }));
  const prefix = `,${JSON.stringify(name)}:`;
  return (message) => prefix + (cases.find(({ read }) => read(message) !== undefined)?.name ?? 'null');
}

/** `without` names members that are left out of the field's message or items. */
type Named = { readonly field: DescField; readonly name: string; readonly without: ReadonlySet<string> };

function compileNamed({ field, name, without }: Named): Members {
  const read = reader(field);
  const { omitUnset, emptyIsNull, unsetIsEmpty } = restFlags(field);
  const prefix = `,${JSON.stringify(name)}:`;
  const unset = omitUnset ? '' : prefix + (unsetIsEmpty ? '""' : 'null');
  const write = valueWriter(field, without);
  return (message) => {
    const value = read(message);
    if (value === undefined) return unset;
    return emptyIsNull && value === '' ? `${prefix}null` : prefix + write(value as never);
  };
}

function compileInline(field: DescField, read: (message: Message) => unknown, omit: ReadonlySet<string>): Members {
  if (isJsonText(field)) {
    return (message) => {
      const text = read(message) as string | undefined;
      return text === undefined || text.length <= 2 ? '' : `,${text.slice(1, -1)}`;
    };
  }
  if (field.fieldKind !== 'message')
    throw new Error(`${field.parent.typeName}.${field.name}: only messages can be inline`);
  const members = omit.size === 0 ? writerOf(field.message) : compileMembers(field.message, omit);
  return (message) => {
    const value = read(message) as Message | undefined;
    return value === undefined ? '' : members(value);
  };
}

function valueWriter(field: DescField, without: ReadonlySet<string> = NONE): ValueWriter {
  if (isMessageList(field) && restFlags(field).byName) return namedListsWriter(field.message);
  if (field.fieldKind === 'list') {
    const message = field.listKind === 'message' ? field.message : null;
    const write = singleWriter(field, message, without) as (item: unknown) => string;
    return (items: readonly unknown[]) => {
      let text = '';
      for (const item of items) text += `,${write(item)}`;
      return `[${text.slice(1)}]`;
    };
  }
  if (field.fieldKind === 'map') return mapWriter(field);
  return singleWriter(field, field.fieldKind === 'message' ? field.message : null, without);
}

/** One object of lists of values by name, or of objects of such lists by key: see by_name in the contract. */
function namedListsWriter(message: DescMessage): ValueWriter {
  const [nameOf, keyOf, valuesOf] = ['name', 'key', 'values'].map((name) => {
    const field = message.fields.find((each) => each.name === name);
    if (field === undefined) throw new Error(`${message.typeName} has no ${name}`);
    return reader(field);
  }) as [(item: Message) => string, (item: Message) => string | undefined, (item: Message) => readonly string[]];
  return (items: readonly Message[]) => {
    const byName = Map.groupBy(items, nameOf);
    const members = [...byName].map(([name, group]) => {
      const [first] = group;
      const isKeyed = first !== undefined && keyOf(first) !== undefined;
      const held = isKeyed
        ? Object.fromEntries(group.map((item) => [keyOf(item), valuesOf(item)]))
        : valuesOf(first as Message);
      return [name, held] as const;
    });
    return JSON.stringify(Object.fromEntries(members));
  };
}

function mapWriter(field: DescField & { readonly fieldKind: 'map' }): ValueWriter {
  if (!field.message) throw new Error(`${field.parent.typeName}.${field.name}: only maps of messages have a REST form`);
  const write = singleWriter(field, field.message) as (item: unknown) => string;
  return (items: Readonly<Record<string, unknown>>) => {
    let text = '';
    for (const [key, item] of Object.entries(items)) text += `,${JSON.stringify(key)}:${write(item)}`;
    return `{${text.slice(1)}}`;
  };
}

function singleWriter(field: DescField, message: DescMessage | null, without = NONE): ValueWriter {
  if (message && isTimestamp(message)) {
    if (restFlags(field).epochMs) return (value: Timestamp) => String(msOfTimestamp(value));
    return (value: Timestamp) => `"${new Date(timestampMs(value)).toISOString()}"`;
  }
  if (message) {
    const only = valueFieldOf(message);
    if (only !== null) {
      const read = reader(only);
      const write = valueWriter(only) as (value: unknown) => string;
      return (value: Message) => {
        const held = read(value);
        return held === undefined ? 'null' : write(held);
      };
    }
    const members = without.size === 0 ? writerOf(message) : compileMembers(message, without);
    return (value: Message) => braced(members(value));
  }
  if (field.enum) {
    const texts = new Map([...enumSpellings(field.enum)].map(([text, number]) => [number, JSON.stringify(text)]));
    return (value: number) => texts.get(value) ?? 'null';
  }
  if (isJsonText(field)) return (value: string) => value;
  return scalarWriter(field);
}

function scalarWriter(field: DescField): ValueWriter {
  switch (field.scalar) {
    case ScalarType.STRING:
      return (value: string) => JSON.stringify(value);
    case ScalarType.BOOL:
      return (value: boolean) => (value ? 'true' : 'false');
    case ScalarType.DOUBLE:
      return (value: number) => JSON.stringify(value);
    case ScalarType.INT32:
    case ScalarType.INT64:
    case ScalarType.UINT32:
      return (value: number | bigint) => value.toString();
    default:
      throw new Error(`${field.parent.typeName}.${field.name}: scalar type without a REST form`);
  }
}

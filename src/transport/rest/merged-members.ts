/** The inline messages of a oneof that share one place over REST: see rest_merged in the contract. */

import type { DescMessage, Message } from '@bufbuild/protobuf';
import { isInlineMessage, type MessageField, mergedFields, restName, sendableFields } from '../../rpc/rest-shape.ts';
import type { JsonObject } from './json-object.ts';
import { type Member, type Members, membersOf, reader } from './members.ts';

/** Whether a request sets this message: no other one of its oneof has more of the members sent, or as many and is smaller. */
export function isChosen(field: MessageField, object: JsonObject): boolean {
  const fields = mergedFields(field.oneof);
  if (fields.length === 0) return true;
  const [best] = fields
    .map((each) => {
      const names = namesIn(each.message);
      return { each, size: names.length, sent: names.filter((name) => (object[name] ?? null) !== null).length };
    })
    .toSorted((one, other) => other.sent - one.sent || one.size - other.size);
  return best?.each === field;
}

function namesIn(desc: DescMessage): readonly string[] {
  return sendableFields(desc).flatMap((field) => (isInlineMessage(field) ? namesIn(field.message) : [restName(field)]));
}

type Omit = ReadonlySet<string>;
type CompileMember = (member: Member, omit: Omit) => Members;

/** Writes the members of all messages, each once; null where the message that is set lacks it. */
export function compileMerged(fields: readonly MessageField[], omit: Omit, compile: CompileMember): Members {
  const variants = fields.map((field) => ({
    read: reader(field),
    members: namedMembers(field.message, omit, compile),
  }));
  const names = new Set(variants.flatMap(({ members }) => [...members.keys()]));
  const complete = (members: ReadonlyMap<string, Members>): Members => {
    const writers = [...names].map((name) => members.get(name) ?? nullWriter(name));
    return (message) => writers.map((write) => write(message)).join('');
  };
  const writers = variants.map(({ read, members }) => ({ read, write: complete(members) }));
  const writeUnset = complete(new Map());
  return (message) => {
    for (const { read, write } of writers) {
      const value = read(message) as Message | undefined;
      if (value !== undefined) return write(value);
    }
    return writeUnset(message);
  };
}

/** By name, also those of inline messages inside. */
function namedMembers(desc: DescMessage, omit: Omit, compile: CompileMember): ReadonlyMap<string, Members> {
  const entries = membersOf(desc, omit).flatMap((member): (readonly [string, Members])[] => {
    if (member.kind !== 'field') return [[member.name, compile(member, omit)]];
    const { field } = member;
    if (!isInlineMessage(field)) return [[restName(field), compile(member, omit)]];
    const read = reader(field);
    return [...namedMembers(field.message, omit, compile)].map(([name, write]) => {
      const inside: Members = (message) => {
        const value = read(message) as Message | undefined;
        return value === undefined ? nullWriter(name)(message) : write(value);
      };
      return [name, inside];
    });
  });
  return new Map(entries);
}

function nullWriter(name: string): Members {
  const text = `,${JSON.stringify(name)}:null`;
  return () => text;
}

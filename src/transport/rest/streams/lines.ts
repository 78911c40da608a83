/**
 * Writes a stream of responses as lines of JSON. A continuation message appends items to the lists at the end of the current
 * line, so that a line can be larger than what is in memory.
 */

import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { isInlineMessage, type MessageField, restName } from '../../../rpc/rest-shape.ts';
import { compileChunks, compileEncoder, type WriteChunks } from '../encode.ts';
import { reader } from '../members.ts';
import type { StreamWriter } from './format.ts';

type List = { readonly name: string; readonly read: (message: Message) => readonly Message[]; readonly write: Write };
type Write = (item: Message) => string;

export function compileLines(output: DescMessage): () => StreamWriter {
  const [row, more, ...others] = output.fields;
  if (!isMessage(row) || !isMessage(more) || others.length > 0) {
    throw new Error(`${output.typeName}: lines need a message that begins one and a message that goes on with it`);
  }
  const names = more.message.fields.map(restName);
  const parts: Parts = {
    row: reader(row),
    more: reader(more),
    head: compileChunks(row.message, new Set(names)),
    names,
    listsOfMore: listsOf(more.message, names),
    listsOfRow: compileLeaves(row.message, names),
  };
  return () => startLines(parts);
}

function isMessage(field: DescField | undefined): field is MessageField {
  return field?.fieldKind === 'message';
}

/** Follows inline messages down to the message whose members stand in the line. */
type Leaf = (message: Message) => { readonly message: Message; readonly lists: readonly List[] } | null;

function compileLeaves(desc: DescMessage, names: readonly string[]): Leaf {
  const inline = desc.fields.filter(isInlineMessage);
  const lists = listsOf(desc, names);
  const below = inline.map((field) => ({ read: reader(field), leaf: compileLeaves(field.message, names) }));
  return (message) => {
    for (const { read, leaf } of below) {
      const inner = read(message) as Message | undefined;
      const found = inner === undefined ? null : leaf(inner);
      if (found !== null) return found;
    }
    return inline.length === 0 ? { message, lists } : null;
  };
}

function listsOf({ fields }: DescMessage, names: readonly string[]): readonly List[] {
  return names.flatMap((name) => {
    const field = fields.find((each) => restName(each) === name);
    if (field?.fieldKind !== 'list' || field.listKind !== 'message') return [];
    const read = reader(field) as List['read'];
    return [{ name, read, write: compileEncoder(field.message) }];
  });
}

type Parts = {
  readonly row: (message: Message) => unknown;
  readonly more: (message: Message) => unknown;
  readonly head: WriteChunks;
  readonly names: readonly string[];
  readonly listsOfMore: readonly List[];
  readonly listsOfRow: Leaf;
};

/** The line being written: its last members, which are lists, the index of the open one, and whether that is still empty. */
type Line = { readonly names: readonly string[]; at: number; isEmpty: boolean };

function startLines({ row, more, head, listsOfMore, listsOfRow }: Parts): StreamWriter {
  let line: Line | null = null;

  function* writeItems(of: Line, lists: readonly List[], message: Message): Generator<string> {
    for (const { name, read, write } of lists) {
      const items = read(message);
      const at = of.names.indexOf(name);
      if (items.length === 0 || at < of.at) continue;
      while (of.at < at) yield openNext(of);
      for (const item of items) {
        yield (of.isEmpty ? '' : ',') + write(item);
        of.isEmpty = false;
      }
    }
  }

  function openNext(of: Line): string {
    const before = of.at < 0 ? '' : ']';
    of.at += 1;
    of.isEmpty = true;
    return `${before},${JSON.stringify(of.names[of.at])}:[`;
  }

  function endLine(): string {
    if (line === null) return '';
    let text = '';
    while (line.at < line.names.length - 1) text += openNext(line);
    text += line.at < 0 ? '}\n' : ']}\n';
    line = null;
    return text;
  }

  function* beginLine(message: Message): Generator<string> {
    yield endLine();
    const leaf = listsOfRow(message);
    if (leaf === null) return;
    for (const chunk of head(message)) yield chunk.endsWith('}') && isLast(chunk) ? chunk.slice(0, -1) : chunk;
    line = { names: leaf.lists.map(({ name }) => name), at: -1, isEmpty: true };
    yield* writeItems(line, leaf.lists, leaf.message);
  }

  return {
    *write(message) {
      const begun = row(message) as Message | undefined;
      if (begun !== undefined) {
        yield* beginLine(begun);
        return;
      }
      const rest = more(message) as Message | undefined;
      if (rest !== undefined && line !== null) yield* writeItems(line, listsOfMore, rest);
    },
    end: endLine,
    fail: null,
  };
}

/** The closing brace is a chunk of its own, unless the object is empty. */
function isLast(chunk: string): boolean {
  return chunk === '}' || chunk === '{}';
}

/** Writes a stream of responses as Server-Sent Events. */

import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { type MessageField, restName } from '../../../rpc/rest-shape.ts';
import { compileEncoder } from '../encode.ts';
import { reader } from '../members.ts';
import type { StreamWriter } from './format.ts';

const ID = 'id';
/** A heartbeat: keeps the connection open, and clients ignore it. */
const COMMENT = ':\n\n';

export function compileEvents(output: DescMessage): () => StreamWriter {
  const id = output.fields.find(({ name }) => name === ID);
  const types = output.fields.filter((field) => field !== id);
  if (id?.fieldKind !== 'scalar' || !types.every(isVariant)) {
    throw new Error(`${output.typeName}: events need a string "${ID}", and messages of which one is set`);
  }
  const readId = reader(id) as (message: Message) => string;
  const writers = types.map(compileType);
  const writer: StreamWriter = {
    *write(message) {
      for (const write of writers) {
        const event = write(message);
        if (event === null) continue;
        const at = readId(message);
        yield at === '' ? event : `id: ${at}\n${event}`;
        return;
      }
      yield COMMENT;
    },
    end: () => '',
    fail: (body) => `event: error\ndata: ${toLine(body)}\n\n`,
  };
  return () => writer;
}

function isVariant(field: DescField): field is MessageField {
  return field.fieldKind === 'message' && field.oneof !== undefined;
}

function compileType(field: MessageField): (message: Message) => string | null {
  const read = reader(field);
  const encode = compileEncoder(field.message);
  const begin = `event: ${restName(field)}\ndata: `;
  // Cached, because the same message goes to every client that follows the stream.
  const written = new WeakMap<Message, string>();
  return (message) => {
    const data = read(message) as Message | undefined;
    if (data === undefined) return null;
    let event = written.get(data);
    if (event === undefined) {
      event = `${begin}${toLine(encode(data))}\n\n`;
      written.set(data, event);
    }
    return event;
  };
}

/** Puts JSON on one line. Line breaks occur only between its tokens, where a space means the same. */
function toLine(json: string): string {
  return json.replace(/[\r\n]/g, ' ');
}

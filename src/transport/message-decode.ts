/**
 * Decodes protobuf messages. Large ones chunk by chunk, with turns of the event loop for other requests in between; the
 * parts of each chunk are counted before it is decoded.
 */

import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  mergeFromBinary,
} from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Fault } from '../domain/fault.ts';
import { undecodable } from '../domain/message-parts.ts';
import type { RunCooperatively, Steps } from '../domain/steps.ts';
import type { Method, Request } from '../rpc/method.ts';
import { createPartCount, type PartCount } from './message-scan.ts';

/** Decoded in one turn of the event loop: it holds few enough parts, which take two bytes at least. */
const CHUNK_BYTES = 65_536;
/** How deep nested messages are split into chunks. Deeper ones are decoded with the message around them. */
const DEPTH_MAX = 20;
const OPTIONS = { readUnknownFields: false };

/** Whether a message is decoded chunk by chunk. */
export function isLargeMessage(bytes: Uint8Array): boolean {
  return bytes.length > CHUNK_BYTES;
}

/** The request for the pipeline, from an encoded message. Throws like decodeMessage. */
export function decodeRequest(
  method: Method,
  bytes: Uint8Array,
  runCooperatively: RunCooperatively,
): Request | Promise<Request> {
  const { desc, handler } = method;
  if ('readBytes' in handler) return { kind: 'bytes', bytes };
  const decoded = decodeMessage(desc.input, bytes, runCooperatively);
  if (!(decoded instanceof Promise)) return { kind: 'message', message: decoded };
  return decoded.then((message) => ({ kind: 'message', message }));
}

/** Throws malformed_request, and payload_too_large for a message of too many parts. */
export function decodeMessage(
  desc: DescMessage,
  bytes: Uint8Array,
  runCooperatively: RunCooperatively,
): Message | Promise<Message> {
  if (isLargeMessage(bytes)) return runCooperatively(decodeInSteps(desc, bytes));
  try {
    return fromBinary(desc, bytes, OPTIONS);
  } catch (cause) {
    throw undecodable(cause);
  }
}

/** The result equals that of decoding at once: protobuf allows to merge the fields of a message one after the other. */
function* decodeInSteps(desc: DescMessage, bytes: Uint8Array): Steps<Message> {
  const message = create(desc);
  try {
    yield* fill(reflect(desc, message), bytes, { count: createPartCount(), depth: 1 });
  } catch (cause) {
    throw cause instanceof Fault ? cause : undecodable(cause);
  }
  return message;
}

type Filling = { readonly count: PartCount; readonly depth: number };

function* fill(target: ReflectMessage, bytes: Uint8Array, filling: Filling): Steps<void> {
  const { desc, message } = target;
  const reader = new BinaryReader(bytes);
  let start = 0;
  const merge = (end: number) => {
    const chunk = bytes.subarray(start, end);
    filling.count.add(desc, chunk);
    mergeFromBinary(desc, message, chunk, OPTIONS);
  };
  while (reader.pos < bytes.length) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    const field = desc.fields.find((each) => each.number === number);
    const content = skipField(reader, wireType, number);
    if (content !== null && content.length > CHUNK_BYTES && field?.message && filling.depth < DEPTH_MAX) {
      if (at > start) merge(at);
      yield* fillPart(target, field, content, filling);
      start = reader.pos;
    } else if (reader.pos - start > CHUNK_BYTES) {
      merge(reader.pos);
      start = reader.pos;
      yield;
    }
  }
  if (start < bytes.length) merge(bytes.length);
}

/** The content of a length-delimited field; null for others. */
function skipField(reader: BinaryReader, wireType: WireType, number: number): Uint8Array | null {
  if (wireType === WireType.LengthDelimited) return reader.bytes();
  reader.skip(wireType, number);
  return null;
}

/** Decodes an item of a list, or a message field, of which an earlier chunk may have set a part. */
function* fillPart(target: ReflectMessage, field: DescField, content: Uint8Array, filling: Filling): Steps<void> {
  if (!field.message || field.fieldKind === 'map') throw new Error(`${field} is not a message`);
  const isItem = field.fieldKind === 'list';
  const known = !isItem && field.fieldKind === 'message' && target.isSet(field) ? target.get(field) : null;
  const part = known ?? reflect(field.message);
  yield* fill(part, content, { ...filling, depth: filling.depth + 1 });
  if (field.fieldKind === 'list') target.get(field).add(part);
  else if (field.fieldKind === 'message') target.set(field, part);
}

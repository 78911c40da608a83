/**
 * Decodes protobuf messages. Large ones piece by piece, with turns of the event loop for others in between, and counted
 * before anything is made of them.
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
import type { Steps, TakeSteps } from '../domain/steps.ts';
import type { Method, Request } from '../rpc/method.ts';
import { createPartCount, type PartCount } from './message-scan.ts';

/** Decoded in one go. Its parts, of two bytes each, are few enough. */
const PIECE_BYTES = 65_536;
/** Messages inside of messages that are taken apart. What is deeper is decoded with what it stands in. */
const DEPTH_MAX = 20;
const OPTIONS = { readUnknownFields: false };

/** Whether a message is decoded piece by piece. */
export function isLargeMessage(bytes: Uint8Array): boolean {
  return bytes.length > PIECE_BYTES;
}

/** What the pipeline gets of an encoded message. Throws like decodeMessage. */
export function decodeRequest(method: Method, bytes: Uint8Array, takeSteps: TakeSteps): Request | Promise<Request> {
  const { desc, handler } = method;
  if ('readBytes' in handler) return { kind: 'bytes', bytes };
  const decoded = decodeMessage(desc.input, bytes, takeSteps);
  if (!(decoded instanceof Promise)) return { kind: 'message', message: decoded };
  return decoded.then((message) => ({ kind: 'message', message }));
}

/** Throws malformed_request, and payload_too_large for a message of too many parts. */
export function decodeMessage(desc: DescMessage, bytes: Uint8Array, takeSteps: TakeSteps): Message | Promise<Message> {
  if (isLargeMessage(bytes)) return takeSteps(decodeInSteps(desc, bytes));
  try {
    return fromBinary(desc, bytes, OPTIONS);
  } catch (cause) {
    throw undecodable(cause);
  }
}

/** The message is the same as if it had been decoded at once: fields may be merged one after the other. */
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
    const piece = bytes.subarray(start, end);
    filling.count.add(desc, piece);
    mergeFromBinary(desc, message, piece, OPTIONS);
  };
  while (reader.pos < bytes.length) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    const field = desc.fields.find((each) => each.number === number);
    const content = skipField(reader, wireType, number);
    if (content !== null && content.length > PIECE_BYTES && field?.message && filling.depth < DEPTH_MAX) {
      if (at > start) merge(at);
      yield* fillPart(target, field, content, filling);
      start = reader.pos;
    } else if (reader.pos - start > PIECE_BYTES) {
      merge(reader.pos);
      start = reader.pos;
      yield;
    }
  }
  if (start < bytes.length) merge(bytes.length);
}

/** What a field of delimited length holds; null for others. */
function skipField(reader: BinaryReader, wireType: WireType, number: number): Uint8Array | null {
  if (wireType === WireType.LengthDelimited) return reader.bytes();
  reader.skip(wireType, number);
  return null;
}

/** An item of a list, or a message that may be there in part already. */
function* fillPart(target: ReflectMessage, field: DescField, content: Uint8Array, filling: Filling): Steps<void> {
  if (!field.message || field.fieldKind === 'map') throw new Error(`${field} is no message`);
  const isItem = field.fieldKind === 'list';
  const known = !isItem && field.fieldKind === 'message' && target.isSet(field) ? target.get(field) : null;
  const part = known ?? reflect(field.message);
  yield* fill(part, content, { ...filling, depth: filling.depth + 1 });
  if (field.fieldKind === 'list') target.get(field).add(part);
  else if (field.fieldKind === 'message') target.set(field, part);
}

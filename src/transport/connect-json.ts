/**
 * The JSON form of rpcs, which the Connect library parses in one go: a message with an object of too many members is
 * refused before it gets there, and so is one that is nested too deep. No message means one: what is free JSON in them
 * travels as text.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ContextValues } from '@connectrpc/connect';
import {
  JSON_DEPTH_MAX,
  MEMBERS_MAX,
  NUMBER_TEXTS_MAX,
  scanJson,
  tooDeep,
  tooManyNumberTexts,
  tooWide,
} from '../domain/json-text.ts';
import { shapeKey, toConnectError } from './connect-errors.ts';

type Request = { readonly headers: { readonly [name: string]: string | string[] | undefined } };
type Body = AsyncGenerator<Uint8Array>;

const JSON_TYPE = /^application\/(?:(?:grpc|grpc-web|connect)\+)?json\b/i;
const UNARY_TYPE = /^application\/json\b/i;
/** Before each message of a stream: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;
const COMPRESSED_FLAG = 1;

/** Set while a message is unpacked that will be parsed as JSON. */
const unpacking = new AsyncLocalStorage<ContextValues>();

/** Runs `serve` with the body of the request, which fails as soon as it is known to be too wide. */
export function checkJson<T>(request: Request, values: ContextValues, body: Body, serve: (body: Body) => T): T {
  const type = String(request.headers['content-type'] ?? '');
  if (!JSON_TYPE.test(type)) return serve(body);
  const isUnary = UNARY_TYPE.test(type);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const isPacked = isUnary && encoding !== 'identity';
  return unpacking.run(values, () => serve(isPacked ? body : checkBody(body, isUnary, values)));
}

/** What came out of a compressed message, unless that is JSON and too wide. */
export function checkUnpacked<T extends Uint8Array>(bytes: T): T {
  const values = unpacking.getStore();
  if (values) refuseWide(bytes, values);
  return bytes;
}

async function* checkBody(body: Body, isUnary: boolean, values: ContextValues): Body {
  const sizeMaxBytes = values.get(shapeKey)?.sizeMaxBytes ?? 0;
  // A message this small cannot be too wide, and those of streams are; they must not wait for one another.
  if (sizeMaxBytes <= MEMBERS_MAX) {
    yield* body;
    return;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > sizeMaxBytes + PREFIX_BYTES) break;
  }
  // What is too large is refused by the library as soon as it sees that much.
  if (size <= sizeMaxBytes + PREFIX_BYTES) {
    const whole = Buffer.concat(chunks, size);
    for (const message of isUnary ? [whole] : unpackedMessages(whole)) refuseWide(message, values);
  }
  yield* chunks;
}

/** The messages of a stream that are not compressed. */
function* unpackedMessages(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + PREFIX_BYTES <= bytes.length; ) {
    const start = at + PREFIX_BYTES;
    const end = start + bytes.readUInt32BE(at + 1);
    if ((bytes.readUInt8(at) & COMPRESSED_FLAG) === 0) yield bytes.subarray(start, end);
    at = end;
  }
}

function refuseWide(bytes: Uint8Array, values: ContextValues): void {
  const shape = values.get(shapeKey);
  if (!shape) return;
  const { depth, longIntegers, hasWide } = scanJson(bytes);
  if (depth > JSON_DEPTH_MAX) throw toConnectError(tooDeep(), shape);
  if (longIntegers.length > NUMBER_TEXTS_MAX) throw toConnectError(tooManyNumberTexts(), shape);
  if (hasWide) throw toConnectError(tooWide(''), shape);
}

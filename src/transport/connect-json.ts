/**
 * Checks messages before the Connect library parses them. The library parses a message in one turn of the event loop, so
 * large binary ones are decoded here over several turns, and the library gets an empty message instead. Refused are
 * messages of too many parts, and JSON nested too deep or with an object of too many members: no valid message has such
 * an object, because free JSON travels in messages as text. So are instants that do not exist.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { type ContextValues, createContextKey } from '@connectrpc/connect';
import { Fault } from '../domain/fault.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import {
  JSON_DEPTH_MAX,
  MEMBERS_MAX,
  NUMBER_TEXTS_MAX,
  scanJson,
  tooDeep,
  tooManyNumberTexts,
  tooWide,
} from '../json/json-text.ts';
import type { Method, Request as RpcRequest } from '../rpc/method.ts';
import { shapeKey, toConnectError } from './connect-errors.ts';
import { refuseImpossibleInstants } from './json-instants.ts';
import { decodeRequest, isLargeMessage } from './message-decode.ts';
import { checkObjects } from './message-scan.ts';

type Request = { readonly headers: { readonly [name: string]: string | string[] | undefined } };
type Body = AsyncGenerator<Uint8Array>;

const JSON_TYPE = /^application\/(?:(?:grpc|grpc-web|connect)\+)?json\b/i;
const UNARY_TYPE = /^application\/(?:json|proto)\b/i;
/** Before each message of a stream: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;
const COMPRESSED_FLAG = 1;

/** The request of a unary call that was decoded here and not by the library. */
export const requestKey = createContextKey<RpcRequest | null>(null);

/** Resolves with what the library parses: the message itself, or an empty one. */
type Inspect = (message: Uint8Array) => Promise<Uint8Array>;

/** Set while a message is decompressed that the library will parse. */
const unpacking = new AsyncLocalStorage<Inspect>();
const EMPTY = new Uint8Array(0);

type Expected = {
  readonly values: ContextValues;
  /** Undefined for health and reflection, whose messages are small. */
  readonly method: Method | undefined;
  readonly runCooperatively: RunCooperatively;
};

/** Runs `serve` with the body of the request, whose iteration throws where a message in it is refused. */
export function checkMessages<T>(request: Request, expected: Expected, body: Body, serve: (body: Body) => T): T {
  const { values, method } = expected;
  const type = String(request.headers['content-type'] ?? '');
  const inspect = JSON_TYPE.test(type)
    ? refuseWide.bind(null, expected)
    : method && decodeLarge.bind(null, { ...expected, method });
  if (!inspect) return serve(body);
  const isUnary = UNARY_TYPE.test(type);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const isPacked = isUnary && encoding !== 'identity';
  const sizeOf = () => values.get(shapeKey)?.sizeMaxBytes ?? 0;
  return unpacking.run(inspect, () => serve(isPacked ? body : inspectBody(body, { isUnary, inspect, sizeOf })));
}

/** Checks a decompressed message; resolves with what the library parses. Throws where the message is refused. */
export async function inspectUnpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const inspected = await unpacking.getStore()?.(bytes);
  return inspected === EMPTY ? new Uint8Array(0) : bytes;
}

type Inspection = { readonly isUnary: boolean; readonly inspect: Inspect; readonly sizeOf: () => number };

async function* inspectBody(body: Body, { isUnary, inspect, sizeOf }: Inspection): Body {
  const sizeMaxBytes = sizeOf();
  // A message this small cannot have too many members. Health and reflection messages are, and must not wait for the end
  // of their streams.
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
  const whole = Buffer.concat(chunks, size);
  // The library refuses a body that is too large from this much of it.
  if (size > sizeMaxBytes + PREFIX_BYTES) yield whole;
  else if (isUnary) yield await inspect(whole);
  else yield* inspectEnvelopes(whole, inspect);
}

/** The messages of a stream. Compressed ones are checked after decompression, in `inspectUnpacked`. */
async function* inspectEnvelopes(bytes: Buffer, inspect: Inspect): Body {
  let at = 0;
  while (at + PREFIX_BYTES <= bytes.length) {
    const start = at + PREFIX_BYTES;
    const end = start + bytes.readUInt32BE(at + 1);
    const isWhole = end <= bytes.length;
    const isPacked = (bytes.readUInt8(at) & COMPRESSED_FLAG) !== 0;
    const message = bytes.subarray(start, end);
    const inspected = isWhole && !isPacked ? await inspect(message) : message;
    if (inspected === message) yield bytes.subarray(at, end);
    else yield Buffer.from([bytes.readUInt8(at), 0, 0, 0, 0]);
    at = end;
  }
  if (at < bytes.length) yield bytes.subarray(at);
}

async function refuseWide({ values, method }: Expected, bytes: Uint8Array): Promise<Uint8Array> {
  await refuse(values, () => {
    const { depth, longIntegers, hasWide } = scanJson(bytes);
    if (depth > JSON_DEPTH_MAX) throw tooDeep();
    if (longIntegers.length > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
    if (hasWide) throw tooWide('');
    checkObjects(bytes);
    if (method) refuseImpossibleInstants(method.desc.input, bytes);
  });
  return bytes;
}

type Decoding = Expected & { readonly method: Method };

async function decodeLarge({ values, method, runCooperatively }: Decoding, bytes: Uint8Array): Promise<Uint8Array> {
  const isReadHere = isLargeMessage(bytes) || 'readBytes' in method.handler;
  // The library refuses a message that is too large, and a second message of a unary call.
  if (!isReadHere || bytes.length > method.sizeMaxBytes || values.get(requestKey) !== null) return bytes;
  await refuse(values, async () => {
    values.set(requestKey, await decodeRequest(method, bytes, runCooperatively));
  });
  return EMPTY;
}

async function refuse(values: ContextValues, check: () => void | Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const shape = values.get(shapeKey);
    throw error instanceof Fault && shape ? toConnectError(error, shape) : error;
  }
}

/**
 * Looks at messages before the Connect library parses them in one go. One of too many parts is refused before it gets
 * there; in the JSON form also one with an object of too many members, or nested too deep. No message means one: what
 * is free JSON in them travels as text.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { DescMessage } from '@bufbuild/protobuf';
import type { ContextValues } from '@connectrpc/connect';
import { Fault } from '../domain/fault.ts';
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
import { checkObjects, checkParts } from './message-scan.ts';

type Request = { readonly headers: { readonly [name: string]: string | string[] | undefined } };
type Body = AsyncGenerator<Uint8Array>;

const JSON_TYPE = /^application\/(?:(?:grpc|grpc-web|connect)\+)?json\b/i;
const UNARY_TYPE = /^application\/(?:json|proto)\b/i;
/** Before each message of a stream: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;
const COMPRESSED_FLAG = 1;

type Check = (message: Uint8Array) => void;

/** Set while a message is unpacked that will be parsed. */
const unpacking = new AsyncLocalStorage<Check>();

export type Expected = {
  readonly values: ContextValues;
  /** Undefined for health and reflection, whose messages are small. */
  readonly input: DescMessage | undefined;
};

/** Runs `serve` with the body of the request, which fails as soon as a message in it is known to be refused. */
export function checkMessages<T>(request: Request, expected: Expected, body: Body, serve: (body: Body) => T): T {
  const { values, input } = expected;
  const type = String(request.headers['content-type'] ?? '');
  const check = JSON_TYPE.test(type) ? refuseWide.bind(null, values) : input && refuseParts.bind(null, values, input);
  if (!check) return serve(body);
  const isUnary = UNARY_TYPE.test(type);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const isPacked = isUnary && encoding !== 'identity';
  const sizeOf = () => values.get(shapeKey)?.sizeMaxBytes ?? 0;
  return unpacking.run(check, () => serve(isPacked ? body : checkBody(body, { isUnary, check, sizeOf })));
}

/** What came out of a compressed message, unless that is refused. */
export function checkUnpacked<T extends Uint8Array>(bytes: T): T {
  unpacking.getStore()?.(bytes);
  return bytes;
}

type Checking = { readonly isUnary: boolean; readonly check: Check; readonly sizeOf: () => number };

async function* checkBody(body: Body, { isUnary, check, sizeOf }: Checking): Body {
  const sizeMaxBytes = sizeOf();
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
    for (const message of isUnary ? [whole] : unpackedMessages(whole)) check(message);
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

function refuseWide(values: ContextValues, bytes: Uint8Array): void {
  refuse(values, () => {
    const { depth, longIntegers, hasWide } = scanJson(bytes);
    if (depth > JSON_DEPTH_MAX) throw tooDeep();
    if (longIntegers.length > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
    if (hasWide) throw tooWide('');
    checkObjects(bytes);
  });
}

function refuseParts(values: ContextValues, input: DescMessage, bytes: Uint8Array): void {
  refuse(values, () => checkParts(input, bytes));
}

function refuse(values: ContextValues, check: () => void): void {
  const shape = values.get(shapeKey);
  if (!shape) return;
  try {
    check();
  } catch (error) {
    throw error instanceof Fault ? toConnectError(error, shape) : error;
  }
}

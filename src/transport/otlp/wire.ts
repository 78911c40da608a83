/** OTLP over HTTP: requests in protobuf or JSON, and every response in the encoding of its request. */

import { type Message, toBinary, toJson } from '@bufbuild/protobuf';
import type { Fault } from '../../domain/fault.ts';
import type { CallIds, Method, Request } from '../../rpc/method.ts';
import { parseCooperatively, type Yielding } from '../json-parse.ts';
import { decodeRequest } from '../message-decode.ts';
import { flatBody } from '../rest/errors.ts';
import { JSON_MEDIA_TYPE, type PreparedResponse } from '../rest/exchange.ts';
import type { ResponseBody } from '../rest/response-body.ts';
import { errorMetadata, errorStatus, grpcCode, packStatus, statusOf } from '../status.ts';

/** The encoding of one exchange, which may be known only once the body was read. */
export type Wire = {
  decode(bytes: Buffer, yielding: Yielding): Promise<Request>;
  encode(message: Message): ResponseBody;
  /** The media type of the response; final once the request is decoded. */
  mediaType(): string;
  refuse(fault: Fault, ids: CallIds): PreparedResponse;
};

const PROTOBUF_MEDIA_TYPE = 'application/x-protobuf';
const PROTOBUF = /^\s*application\/(x-)?protobuf\s*(;|$)/i;
const JSON_MEDIA = /^\s*application\/json\s*(;|$)/i;
const OPEN_OBJECT = 0x7b;
/** How many leading spaces are skipped at most: scanning megabytes of spaces would cost time. */
const LOOKED_AT_BYTES = 1_024;
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

export function openWire(method: Method, mediaType: string | undefined): Wire {
  const { desc, handler } = method;
  if (!('readJson' in handler)) throw new Error(`${desc.name} does not take OTLP`);
  const { spelling } = handler;
  // JSON until the encoding is known, because an error is easier to read in it.
  let isJson = mediaType === undefined || !PROTOBUF.test(mediaType);

  async function decode(bytes: Buffer, yielding: Yielding): Promise<Request> {
    if (isJson && !JSON_MEDIA.test(mediaType ?? '')) isJson = looksLikeJson(bytes);
    if (!isJson) return decodeRequest(method, bytes, yielding.runCooperatively);
    return { kind: 'json', ...(await parseCooperatively(bytes, spelling, yielding)) };
  }

  function responseType(): string {
    return isJson ? JSON_MEDIA_TYPE : PROTOBUF_MEDIA_TYPE;
  }

  return {
    decode,
    encode(message) {
      if (!isJson) return [Buffer.from(toBinary(desc.output, message))];
      return [JSON.stringify(toJson(desc.output, message, { alwaysEmitImplicit: true }), writeCount)];
    },
    mediaType: responseType,
    refuse(fault, ids) {
      const body = isJson
        ? JSON.stringify({ ...flatBody(fault, ids), code: grpcCode(fault) })
        : Buffer.from(packStatus(errorStatus(fault, 'flat', ids)));
      // OTLP exporters expect 400 for every invalid request, also where other routes use 422.
      const status = statusOf(fault, 'canonical');
      return { status, headers: errorMetadata(fault), body: [body], mediaType: responseType() };
    },
  };
}

function looksLikeJson(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT_BYTES).find((byte) => !SPACES.has(byte)) === OPEN_OBJECT;
}

/** Writes the counts of rejected items as numbers: they are 64-bit integers, which protobuf's JSON writes as text. */
function writeCount(name: string, value: unknown): unknown {
  return name.startsWith('rejected') ? Number(value) : value;
}

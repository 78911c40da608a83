/** OTLP over HTTP: requests and answers in protobuf or JSON, and every answer in the encoding of its request. */

import { type Message, toBinary, toJson } from '@bufbuild/protobuf';
import { ErrorFamily } from '../../../gen/spandrel/v1/options_pb.js';
import type { Fault } from '../../domain/fault.ts';
import type { CallIds, Method, Request } from '../../rpc/method.ts';
import { parseInTurns, type Turns } from '../json-turns.ts';
import { decodeRequest } from '../message-decode.ts';
import type { AnswerBody } from '../rest/body-parts.ts';
import { flatBody, statusOf } from '../rest/errors.ts';
import { type Answer, JSON_MEDIA_TYPE } from '../rest/exchange.ts';
import { errorMetadata, errorStatus, grpcCode, packStatus } from '../status.ts';

/** One exchange. Which encoding it has may be known only with its body. */
export type Wire = {
  decode(bytes: Buffer, turns: Turns): Promise<Request>;
  encode(message: Message): AnswerBody;
  /** Of answers, once the request is decoded. */
  mediaType(): string;
  refuse(fault: Fault, ids: CallIds): Answer;
};

const PROTOBUF_MEDIA_TYPE = 'application/x-protobuf';
const PROTOBUF = /^\s*application\/(x-)?protobuf\s*(;|$)/i;
const JSON_MEDIA = /^\s*application\/json\s*(;|$)/i;
const OPEN_OBJECT = 0x7b;
/** Nobody indents a request by more, and to look through megabytes of spaces costs. */
const LOOKED_AT_BYTES = 1_024;
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

export function openWire(method: Method, mediaType: string | undefined): Wire {
  const { desc, handler } = method;
  if (!('readJson' in handler)) throw new Error(`${desc.name} does not take OTLP`);
  const { spelling } = handler;
  // Until it is known, people read JSON more easily.
  let isJson = mediaType === undefined || !PROTOBUF.test(mediaType);

  async function decode(bytes: Buffer, turns: Turns): Promise<Request> {
    if (isJson && !JSON_MEDIA.test(mediaType ?? '')) isJson = looksLikeJson(bytes);
    if (!isJson) return decodeRequest(method, bytes, turns.takeSteps);
    return { kind: 'json', ...(await parseInTurns(bytes, spelling, turns)) };
  }

  function answerType(): string {
    return isJson ? JSON_MEDIA_TYPE : PROTOBUF_MEDIA_TYPE;
  }

  return {
    decode,
    encode(message) {
      if (!isJson) return [Buffer.from(toBinary(desc.output, message))];
      return [JSON.stringify(toJson(desc.output, message, { alwaysEmitImplicit: true }), writeCount)];
    },
    mediaType: answerType,
    refuse(fault, ids) {
      const body = isJson
        ? JSON.stringify({ ...flatBody(fault, ids), code: grpcCode(fault) })
        : Buffer.from(packStatus(errorStatus(fault, 'flat', ids)));
      // Exporters know one status for a request that is wrong.
      const status = statusOf(fault, ErrorFamily.CANONICAL);
      return { status, headers: errorMetadata(fault), body: [body], mediaType: answerType() };
    },
  };
}

function looksLikeJson(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT_BYTES).find((byte) => !SPACES.has(byte)) === OPEN_OBJECT;
}

/** Counts are 64-bit integers, which the JSON of protobuf has as text. */
function writeCount(name: string, value: unknown): unknown {
  return name.startsWith('rejected') ? Number(value) : value;
}

/** Refusals of HTTP/1.1 requests that end before any handler has seen them. */

import type { Duplex } from 'node:stream';
import { Fault } from '../../domain/fault.ts';
import { type IdSource, traceparentOf } from '../call-ids.ts';
import type { CallLog } from '../call-log.ts';
import type { Arrival } from '../origin.ts';
import { familyOfPath, faultAnswer } from './errors.ts';
import { splitTarget } from './path.ts';

export type Premature = 'headers_too_large' | 'uri_too_long' | 'request_timeout' | 'malformed';

const FAULTS: { readonly [K in Premature]: () => Fault } = {
  headers_too_large: () => new Fault('headers_too_large', 'The request headers are too large.'),
  uri_too_long: () => new Fault('uri_too_long', 'The request line is too long.'),
  request_timeout: () => new Fault('request_timeout', 'The request did not arrive in time.'),
  malformed: () => new Fault('malformed_request', 'The request is not valid HTTP.'),
};

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
};

export type PrematureDeps = {
  readonly ids: IdSource;
  readonly callLog: CallLog;
  /** Where the request came from. */
  readonly socket: Duplex;
};

/** What is refused, and the target of the request where its bytes tell it. */
export type PrematureEnd = { readonly problem: Premature; readonly target: string | null };

/** Of what was asked for. */
const NOTHING_KNOWN = { transport: 'rest', method: null, route: null, caller: 'none' } as const;

function from(socket: Duplex): Arrival {
  return { socket: socket as Arrival['socket'], headers: {}, hasBody: false };
}

/** The bytes to write before the socket is closed. */
export function refusePrematurely({ problem, target }: PrematureEnd, { ids, callLog, socket }: PrematureDeps): Buffer {
  const callIds = ids.next(() => undefined);
  const traceparent = traceparentOf(callIds);
  const fault = FAULTS[problem]();
  const path = target === null ? null : splitTarget(target).path;
  const { status, body: pieces, mediaType } = faultAnswer(fault, familyOfPath(path ?? '/'), callIds);
  const asked = { ...NOTHING_KNOWN, path, ids: callIds, startedAtMs: callLog.nowMs(), arrival: from(socket) };
  callLog.ended({ ...asked, status, fault });
  const body = pieces.join('');
  const head = [
    `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Error'}`,
    `content-type: ${mediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `x-request-id: ${callIds.requestId}`,
    ...(traceparent ? [`traceparent: ${traceparent}`] : []),
    'connection: close',
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

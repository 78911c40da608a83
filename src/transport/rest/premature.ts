/** Refusals of HTTP/1.1 requests that end before any handler has seen them. */

import { ErrorFamily } from '../../../gen/spandrel/v1/options_pb.js';
import { Fault } from '../../domain/fault.ts';
import { type IdSource, traceparentOf } from '../call-ids.ts';
import { faultAnswer } from './errors.ts';

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

/** The bytes to write before the socket is closed. */
export function refusePrematurely(problem: Premature, ids: IdSource): Buffer {
  const callIds = ids.next(() => undefined);
  const traceparent = traceparentOf(callIds);
  const { status, body: pieces, mediaType } = faultAnswer(FAULTS[problem](), ErrorFamily.FLAT, callIds);
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

/** Refuses requests the Connect router cannot serve, in the protocol they were sent in. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import type { Fault, FaultKind } from '../domain/fault.ts';
import { traceparentOf } from './call-ids.ts';
import { toConnectError } from './connect-errors.ts';
import type { Exchange } from './connect-exchange.ts';
import { isGrpc } from './rpc-request.ts';
import { errorTrailers } from './status.ts';

type Response = Exchange['response'];

/** Where HTTP says more than the code of the error. */
const HTTP_STATUS: { readonly [K in FaultKind]?: number } = {
  route_not_found: 404,
  method_not_allowed: 405,
  unsupported_media_type: 415,
};

/** Answers and ends the exchange. */
export function refuseRpc({ request, response, ids }: Exchange, fault: Fault): void {
  const type = request.headers['content-type'] ?? '';
  const headers: OutgoingHttpHeaders = { 'x-request-id': ids.requestId };
  const traceparent = traceparentOf(ids);
  if (traceparent) headers.traceparent = traceparent;
  // The body is not going to be read.
  if (request.httpVersionMajor === 1 && !request.complete) headers.connection = 'close';
  if (isGrpc(type)) {
    const [mediaType] = type.split(';', 1);
    write(response, 200, { ...headers, 'content-type': mediaType, ...errorTrailers(fault, 'flat', ids) }, null);
  } else {
    const error = toConnectError(fault, { family: 'flat', ids, sizeMaxBytes: 0 });
    const status = HTTP_STATUS[fault.kind] ?? codeToHttpStatus(error.code);
    const metadata = Object.fromEntries(error.metadata);
    const body = errorToJsonBytes(error, undefined);
    write(response, status, { ...headers, ...metadata, 'content-type': 'application/json' }, body);
  }
}

function write(response: Response, status: number, headers: OutgoingHttpHeaders, body: Uint8Array | null): void {
  // One call for both kinds of response, whose writeHead is declared with overloads that no union satisfies.
  (response as ServerResponse).writeHead(status, headers).end(body ?? undefined);
}

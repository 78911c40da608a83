/** Refuses requests the Connect router cannot serve, in the protocol they were sent in. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import type { Fault, FaultKind } from '../domain/fault.ts';
import { traceparentOf } from './call-ids.ts';
import { toConnectError } from './connect-errors.ts';
import type { Exchange } from './connect-exchange.ts';
import { isGrpc } from './rpc-request.ts';
import { errorTrailers } from './status.ts';

type Response = Exchange['response'];

/** The value of the Allow header at the path of an rpc. */
export function rpcMethods({ allowedMethods }: Pick<UniversalHandler, 'allowedMethods'>): string {
  return [...allowedMethods, 'OPTIONS'].join(', ');
}

/** Faults with a more specific HTTP status than that of their Connect code. */
const HTTP_STATUS: { readonly [K in FaultKind]?: number } = {
  route_not_found: 404,
  method_not_allowed: 405,
  expectation_failed: 417,
  unsupported_media_type: 415,
};

/** Sends the error and ends the exchange. */
export function refuseRpc(exchange: Exchange, fault: Fault): void {
  const { request, response, ids } = exchange;
  exchange.report.onFault(fault);
  exchange.report.finish(200);
  const type = request.headers['content-type'] ?? '';
  const headers = headersOf(exchange);
  if (isGrpc(type)) {
    const [mediaType] = type.split(';', 1);
    const trailers = { ...headers, 'content-type': mediaType, ...errorTrailers(fault, 'flat', ids) };
    if ('stream' in response) endWithTrailers(response.stream, { ...response.getHeaders(), ...trailers });
    else write(response, 200, trailers, null);
  } else {
    const error = toConnectError(fault, { family: 'flat', ids, sizeMaxBytes: 0 });
    const status = HTTP_STATUS[fault.kind] ?? codeToHttpStatus(error.code);
    const metadata = Object.fromEntries(error.metadata);
    const body = errorToJsonBytes(error, undefined);
    write(response, status, { ...headers, ...metadata, 'content-type': 'application/json' }, body);
  }
}

/** Responds with the methods that an rpc path takes, and ends the exchange. */
export function respondWithMethods(exchange: Exchange, handler: UniversalHandler): void {
  exchange.report.finish(204);
  write(exchange.response, 204, { allow: rpcMethods(handler), ...headersOf(exchange) }, null);
}

function headersOf({ request, ids }: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'x-request-id': ids.requestId };
  const traceparent = traceparentOf(ids);
  if (traceparent) headers.traceparent = traceparent;
  // The rest of the body stays unread, so the connection cannot be reused.
  if (request.httpVersionMajor === 1 && !request.complete) headers.connection = 'close';
  return headers;
}

/**
 * Ends the stream with its first header frame: to a gRPC client, headers that do not end the stream announce a message.
 * The response object would send a separate frame for the end.
 */
function endWithTrailers(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  if (stream.closed || stream.destroyed || stream.headersSent) return;
  stream.respond({ ':status': 200, ...headers }, { endStream: true });
  if (stream.state.remoteClose === 1) stream.resume();
  else stream.close(constants.NGHTTP2_NO_ERROR);
}

function write(response: Response, status: number, headers: OutgoingHttpHeaders, body: Uint8Array | null): void {
  // The cast serves both kinds of response: their overloads of writeHead do not combine in a union.
  (response as ServerResponse).writeHead(status, headers).end(body ?? undefined);
}

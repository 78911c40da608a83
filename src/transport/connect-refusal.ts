/** Refuses requests the Connect router cannot serve, in the protocol they were sent in. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import type { Fault, FaultKind } from '../domain/fault.ts';
import { addIds } from './call-ids.ts';
import { toConnectError } from './connect-errors.ts';
import type { Exchange } from './connect-exchange.ts';
import { endWithHeaders, isFinished } from './grpc.ts';
import { isGrpc } from './rpc-request.ts';
import { errorTrailers, statusOf } from './status.ts';

type Response = Exchange['response'];

/** The methods that the path of an rpc takes. */
export function rpcMethods({ allowedMethods }: Pick<UniversalHandler, 'allowedMethods'>): readonly string[] {
  return [...allowedMethods, 'OPTIONS'];
}

/** Faults with a more specific HTTP status than that of their Connect code. */
const SPECIFIC: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'route_not_found',
  'method_not_allowed',
  'expectation_failed',
  'unsupported_media_type',
]);

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
    if (!('stream' in response)) write(response, 200, trailers, null);
    // The response object would send a separate frame for the end.
    else if (!isFinished(response.stream)) {
      endWithHeaders(response.stream, { ':status': 200, ...response.getHeaders(), ...trailers });
    }
  } else {
    const error = toConnectError(fault, { family: 'flat', ids, sizeMaxBytes: 0, input: null });
    const status = SPECIFIC.has(fault.kind) ? statusOf(fault, 'flat') : codeToHttpStatus(error.code);
    const metadata = Object.fromEntries(error.metadata);
    const body = errorToJsonBytes(error, undefined);
    write(response, status, { ...headers, ...metadata, 'content-type': 'application/json' }, body);
  }
}

/** Responds with the methods that an rpc path takes, and ends the exchange. */
export function respondWithMethods(exchange: Exchange, handler: UniversalHandler): void {
  exchange.report.finish(204);
  write(exchange.response, 204, { allow: rpcMethods(handler).join(', '), ...headersOf(exchange) }, null);
}

function headersOf({ request, ids }: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = addIds({}, ids);
  // The rest of the body stays unread, so the connection cannot be reused.
  if (request.httpVersionMajor === 1 && !request.complete) headers.connection = 'close';
  return headers;
}

function write(response: Response, status: number, headers: OutgoingHttpHeaders, body: Uint8Array | null): void {
  // The cast serves both kinds of response: their overloads of writeHead do not combine in a union.
  (response as ServerResponse).writeHead(status, headers).end(body ?? undefined);
}

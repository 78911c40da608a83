/** Admits a request of Connect, gRPC-Web or gRPC through the Connect router to the pipeline, or refuses it. */

import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { Fault } from '../domain/fault.ts';
import { type Invoke, toFault } from '../rpc/invoke.ts';
import type { Method, UnaryResponse } from '../rpc/method.ts';
import type { InvokeStream, ResponseStream } from '../rpc/streams/invoke-stream.ts';
import { methodFault } from './allowed-methods.ts';
import { deadlineFault } from './call-deadline.ts';
import { addIds } from './call-ids.ts';
import { type PendingCall, startCall, startStream } from './connect-call.ts';
import { type ErrorShape, refusalKey, replaceLibraryError, shapeKey, toConnectError } from './connect-errors.ts';
import { type Exchange, exchangeKey, isDisconnected } from './connect-exchange.ts';
import { findGetProblem } from './connect-get.ts';
import { rpcMethods } from './connect-refusal.ts';
import { expectationProblem } from './expectation.ts';
import { responseSinkOf } from './response-watch.ts';
import { familyOf } from './status.ts';

export const callKey = createContextKey<PendingCall<UnaryResponse> | null>(null);
export const streamKey = createContextKey<PendingCall<ResponseStream> | null>(null);

/** Why the library cannot serve a request to a path it knows; null where it can. */
export function findRefusal(request: Exchange['request'], handler: UniversalHandler): Fault | null {
  const unmet = expectationProblem(request);
  if (unmet) return unmet;
  const isGet = request.method === 'GET' && handler.allowedMethods.includes('GET');
  if (request.method !== 'POST' && !isGet) return methodFault(rpcMethods(handler));
  if (isGet) {
    const problem = findGetProblem(request.url ?? '', handler.method.input);
    if (problem !== null) return problem;
  }
  if (!isGet && GRPC_WEB_TEXT.test(request.headers['content-type'] ?? '')) {
    return new Fault('unsupported_encoding', 'gRPC-Web in text is not served; send application/grpc-web+proto.');
  }
  if (!isGet && !handler.supportedContentType(request.headers['content-type'] ?? '')) {
    return new Fault('unsupported_encoding', 'The content type belongs to none of gRPC, gRPC-Web and Connect.');
  }
  // The library parses the authority as a URL, and sends no response where that fails.
  const authority = 'authority' in request ? request.authority : request.headers.host;
  if (URL.canParse(`http://${authority ?? ''}/`)) return null;
  return new Fault('malformed_request', 'The request names no host.');
}

/** The library recognizes the type and answers it with an empty body. */
const GRPC_WEB_TEXT = /^application\/grpc-web-text\b/i;

type Admission = {
  /** Undefined for health and reflection, which do not use the pipeline. */
  readonly method: Method | undefined;
  readonly sizeMaxBytes: number;
  readonly invoke: Invoke;
  readonly invokeStream: InvokeStream;
};

/**
 * Runs before a byte of the message is read. The pipeline starts here and requests the message once the caller is
 * admitted; until then the body is neither buffered nor decompressed.
 */
export async function admit(context: HandlerContext, admission: Admission): Promise<void> {
  const { method, sizeMaxBytes } = admission;
  const exchange = context.values.get(exchangeKey);
  if (!exchange) throw new Error('the request was not announced');
  const { ids, request, response, report: end } = exchange;
  const family = method ? familyOf(method.policy) : 'flat';
  const shape: ErrorShape = { family, ids, sizeMaxBytes, input: method?.desc.input ?? null, onFault: end.onFault };
  context.values.set(shapeKey, shape);
  const named: Record<string, string> = addIds({}, ids);
  for (const [name, value] of Object.entries(named)) context.responseHeader.set(name, value);
  const refusal = context.values.get(refusalKey);
  if (refusal) {
    closeBehindBody(request, context.responseHeader);
    throw refusal;
  }
  const call = begin(context, exchange, admission);
  onceAborted(context.signal, () => {
    context.values.set(refusalKey, replaceLibraryError(context.signal.reason, shape));
    call?.abandon();
    // When the client has disconnected, the body has ended by itself.
    if (!request.complete && !isDisconnected(exchange)) rejectUnreadBody(exchange, context.responseHeader, shape);
  });
  try {
    await call?.admitted(context.signal);
  } catch (error) {
    throw toConnectError(toFault(error), shape);
  }
  if (request.headers.expect !== undefined) response.writeContinue();
}

/** Null for health and reflection. */
function begin(context: HandlerContext, exchange: Exchange, { method, invoke, invokeStream }: Admission) {
  const { ids, header, origin, response, report: end } = exchange;
  if (method === undefined) return null;
  const callBase = { header, ids, origin, isDisconnected: () => isDisconnected(exchange), onCaller: end.onCaller };
  if (method.kind === 'unary') {
    const call = startCall(invoke, { method, ...callBase });
    context.values.set(callKey, call);
    return call;
  }
  const { signal } = context;
  const call = startStream(
    invokeStream,
    { method, ...callBase },
    { signal, cut: () => responseSinkOf(response).destroy() },
  );
  context.values.set(streamKey, call);
  return call;
}

function onceAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Stops waiting for the rest of the body. */
function rejectUnreadBody({ request, bodyEnd }: Exchange, responseHeader: Headers, shape: ErrorShape): void {
  bodyEnd.reject(toConnectError(deadlineFault(), shape));
  closeBehindBody(request, responseHeader);
}

/** An HTTP/1 connection cannot be reused behind an unread body. */
function closeBehindBody(request: Exchange['request'], responseHeader: Headers): void {
  if (request.httpVersionMajor === 1 && !request.complete) responseHeader.set('connection', 'close');
}

/** Lets a request of Connect, gRPC-Web or the long way of gRPC into the pipeline, or turns it away. */

import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { Fault } from '../domain/fault.ts';
import { type Invoke, toFault } from '../rpc/invoke.ts';
import type { Answered, Method } from '../rpc/method.ts';
import type { AnswerStream, InvokeStream } from '../rpc/streams/invoke-stream.ts';
import { outletOf } from './answer-watch.ts';
import { traceparentOf } from './call-ids.ts';
import { type PendingCall, startCall, startStream } from './connect-call.ts';
import { deadlineFault, type ErrorShape, rewordLibraryError, shapeKey, toConnectError } from './connect-errors.ts';
import { type Exchange, exchangeKey, hasLeft } from './connect-exchange.ts';
import { rpcMethods } from './connect-refusal.ts';
import { expectationProblem } from './expectation.ts';
import { familyOf } from './status.ts';

export const callKey = createContextKey<PendingCall<Answered> | null>(null);
export const streamKey = createContextKey<PendingCall<AnswerStream> | null>(null);

/** What keeps the library from serving a request to a path it knows. */
export function problemOf(request: Exchange['request'], handler: UniversalHandler): Fault | null {
  const unmet = expectationProblem(request);
  if (unmet) return unmet;
  const isGet = request.method === 'GET' && handler.allowedMethods.includes('GET');
  if (request.method !== 'POST' && !isGet) {
    const verbs = handler.allowedMethods.includes('GET') ? 'GET or POST' : 'POST';
    return new Fault('method_not_allowed', `The rpc is called with ${verbs}.`, {
      headers: { allow: rpcMethods(handler) },
    });
  }
  // The query of a GET says what a content type would.
  if (!isGet && !handler.supportedContentType(request.headers['content-type'] ?? '')) {
    return new Fault('unsupported_encoding', 'The content type belongs to none of gRPC, gRPC-Web and Connect.');
  }
  // The library builds a URL of the authority, and fails without an answer where it cannot.
  const authority = 'authority' in request ? request.authority : request.headers.host;
  if (URL.canParse(`http://${authority ?? ''}/`)) return null;
  return new Fault('malformed_request', 'The request names no host.');
}

export type Admission = {
  /** Undefined for health and reflection, which answer without the pipeline. */
  readonly method: Method | undefined;
  readonly sizeMaxBytes: number;
  readonly invoke: Invoke;
  readonly invokeStream: InvokeStream;
};

/**
 * Runs before a byte of the message is read. The pipeline starts here and asks for the message once the caller is
 * admitted; until then nothing of the body is buffered or unpacked.
 */
export async function admit(context: HandlerContext, admission: Admission): Promise<void> {
  const { method, sizeMaxBytes } = admission;
  const exchange = context.values.get(exchangeKey);
  if (!exchange) throw new Error('the request was not announced');
  const { ids, request, response, end } = exchange;
  const family = method ? familyOf(method.policy) : 'flat';
  const shape: ErrorShape = { family, ids, sizeMaxBytes, onFault: end.onFault };
  context.values.set(shapeKey, shape);
  context.responseHeader.set('x-request-id', ids.requestId);
  const traceparent = traceparentOf(ids);
  if (traceparent) context.responseHeader.set('traceparent', traceparent);
  const call = begin(context, exchange, admission);
  onceAborted(context.signal, () => {
    rewordLibraryError(context.signal.reason, shape);
    call?.abandon();
    // Where the caller left, the body has ended by itself.
    if (!request.complete && !hasLeft(exchange)) leaveUnread(exchange, context.responseHeader, shape);
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
  const { ids, header, origin, response, end } = exchange;
  if (method === undefined) return null;
  const told = { header, ids, origin, hasLeft: () => hasLeft(exchange), onCaller: end.onCaller };
  if (method.kind === 'unary') {
    const call = startCall(invoke, { method, ...told });
    context.values.set(callKey, call);
    return call;
  }
  const { signal } = context;
  const call = startStream(invokeStream, { method, ...told }, { signal, cut: () => outletOf(response).destroy() });
  context.values.set(streamKey, call);
  return call;
}

function onceAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Nobody waits for the rest of the body any more, and an HTTP/1 connection cannot be used again behind it. */
function leaveUnread({ request, bodyEnd }: Exchange, responseHeader: Headers, shape: ErrorShape): void {
  bodyEnd.reject(toConnectError(deadlineFault(), shape));
  if (request.httpVersionMajor === 1) responseHeader.set('connection', 'close');
}

/** Lets a request of Connect, gRPC-Web or the long way of gRPC into the pipeline, or turns it away. */

import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { Fault } from '../domain/fault.ts';
import { type Invoke, toFault } from '../rpc/invoke.ts';
import type { Method } from '../rpc/method.ts';
import { traceparentOf } from './call-ids.ts';
import { type PendingCall, startCall } from './connect-call.ts';
import { deadlineFault, type ErrorShape, rewordLibraryError, shapeKey, toConnectError } from './connect-errors.ts';
import { type Exchange, exchangeKey, hasLeft } from './connect-exchange.ts';
import { rpcMethods } from './connect-refusal.ts';
import { expectationProblem } from './expectation.ts';
import { familyOf } from './status.ts';

export const callKey = createContextKey<PendingCall | null>(null);

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
};

/**
 * Runs before a byte of the message is read. The pipeline starts here and asks for the message once the caller is
 * admitted; until then nothing of the body is buffered or unpacked.
 */
export async function admit(context: HandlerContext, { method, sizeMaxBytes, invoke }: Admission): Promise<void> {
  const exchange = context.values.get(exchangeKey);
  if (!exchange) throw new Error('the request was not announced');
  const { ids, header, origin, request, response, end } = exchange;
  const family = method ? familyOf(method.policy) : 'flat';
  const shape: ErrorShape = { family, ids, sizeMaxBytes, onFault: end.onFault };
  context.values.set(shapeKey, shape);
  context.responseHeader.set('x-request-id', ids.requestId);
  const traceparent = traceparentOf(ids);
  if (traceparent) context.responseHeader.set('traceparent', traceparent);
  const told = { hasLeft: () => hasLeft(exchange), onCaller: end.onCaller };
  const call = method ? startCall({ invoke, method, header, ids, origin, ...told }) : null;
  context.values.set(callKey, call);
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

function onceAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Nobody waits for the rest of the body any more, and an HTTP/1 connection cannot be used again behind it. */
function leaveUnread({ request, bodyEnd }: Exchange, responseHeader: Headers, shape: ErrorShape): void {
  bodyEnd.reject(toConnectError(deadlineFault(), shape));
  if (request.httpVersionMajor === 1) responseHeader.set('connection', 'close');
}

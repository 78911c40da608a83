/** One call between the Connect library and the pipeline. */

import type { Call, Decode, Invoke } from '../rpc/invoke.ts';
import type { Method, Request, StreamMethod, UnaryMethod, UnaryResponse } from '../rpc/method.ts';
import type { InvokeStream, ResponseStream } from '../rpc/streams/invoke-stream.ts';
import { deadlineFault } from './call-deadline.ts';
import type { Origin } from './origin.ts';

/**
 * The library decodes the message by itself and hands it over; the pipeline requests it only after admission. So the
 * pipeline starts first and waits where it requests the message.
 */
export type PendingCall<Response> = {
  /** Resolves once the caller may send the message; rejects with the refusal. */
  readonly admitted: (signal: AbortSignal) => Promise<void>;
  /** Hands the message to the pipeline, and resolves with the response. */
  readonly run: (request: Request, signal: AbortSignal) => Promise<Response>;
  /** Ends the pipeline when the message will not arrive. */
  readonly abandon: () => void;
};

type CallStart<M extends Method> = Pick<Call, 'header' | 'ids' | 'isDisconnected' | 'onCaller'> & {
  readonly method: M;
  readonly origin: Origin;
};

export function startCall(
  invoke: Invoke,
  { method, origin, ...call }: CallStart<UnaryMethod>,
): PendingCall<UnaryResponse> {
  return start((decode) => invoke(method, { transport: 'connect', ...call, ...origin }, decode));
}

type Cancellation = { readonly signal: AbortSignal; readonly cut: () => void };

export function startStream(
  invoke: InvokeStream,
  { method, origin, ...call }: CallStart<StreamMethod>,
  leaving: Cancellation,
): PendingCall<ResponseStream> {
  return start(async (decode) => {
    const responses = await invoke(method, { transport: 'connect', ...call, ...origin, ...leaving }, decode);
    // After an abort no caller is left to close the stream.
    if (leaving.signal.aborted) responses.close();
    return responses;
  });
}

function start<Response>(begin: (decode: Decode) => Promise<Response>): PendingCall<Response> {
  const admission = Promise.withResolvers<void>();
  const message = Promise.withResolvers<Request>();
  const response = begin(() => {
    admission.resolve();
    return message.promise;
  });
  response.then(() => admission.resolve(), admission.reject);
  // When the client disconnects, nothing may be left awaiting these; that must not count as an unhandled rejection.
  message.promise.catch(() => {});
  admission.promise.catch(() => {});
  return {
    admitted: (signal) => unlessAborted(admission.promise, signal),
    run(received, signal) {
      message.resolve(received);
      return unlessAborted(response, signal);
    },
    abandon: () => message.reject(deadlineFault()),
  };
}

/** Stops waiting at the deadline, or when the client disconnects; the work itself continues. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(deadlineFault());
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

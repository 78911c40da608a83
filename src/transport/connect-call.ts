/** One call between the Connect library and the pipeline. */

import type { Call, Decode, Invoke } from '../rpc/invoke.ts';
import type { Answered, CallIds, Method, Request, StreamMethod, UnaryMethod } from '../rpc/method.ts';
import type { AnswerStream, InvokeStream } from '../rpc/streams/invoke-stream.ts';
import { deadlineFault } from './connect-errors.ts';
import type { Origin } from './origin.ts';

/**
 * The library hands over a message it has decoded itself, the pipeline wants to ask for it. So the pipeline starts
 * first and waits at that question.
 */
export type PendingCall<Response> = {
  /** Settles once the caller may send the message; rejects with the refusal. */
  readonly admitted: (signal: AbortSignal) => Promise<void>;
  /** Answers the pipeline's question, and then the response. */
  readonly run: (request: Request, signal: AbortSignal) => Promise<Response>;
  /** Lets the pipeline end where the message will not come. */
  readonly abandon: () => void;
};

export type CallStart<M extends Method> = {
  readonly method: M;
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  readonly origin: Origin;
  readonly hasLeft: Call['hasLeft'];
  readonly onCaller: NonNullable<Call['onCaller']>;
};

export function startCall(invoke: Invoke, { method, origin, ...call }: CallStart<UnaryMethod>): PendingCall<Answered> {
  return start((decode) => invoke(method, { transport: 'connect', ...call, ...origin }, decode));
}

type Leaving = { readonly signal: AbortSignal; readonly cut: () => void };

export function startStream(
  invoke: InvokeStream,
  { method, origin, ...call }: CallStart<StreamMethod>,
  leaving: Leaving,
): PendingCall<AnswerStream> {
  return start(async (decode) => {
    const answers = await invoke(method, { transport: 'connect', ...call, ...origin, ...leaving }, decode);
    // Nobody waits for it then, who could end it.
    if (leaving.signal.aborted) answers.close();
    return answers;
  });
}

function start<Response>(begin: (decode: Decode) => Promise<Response>): PendingCall<Response> {
  const question = Promise.withResolvers<void>();
  const message = Promise.withResolvers<Request>();
  const response = begin(() => {
    question.resolve();
    return message.promise;
  });
  response.then(() => question.resolve(), question.reject);
  // Each may be left by everybody when the caller goes away.
  message.promise.catch(() => {});
  question.promise.catch(() => {});
  return {
    admitted: (signal) => unlessAborted(question.promise, signal),
    run(received, signal) {
      message.resolve(received);
      return unlessAborted(response, signal);
    },
    abandon: () => message.reject(deadlineFault()),
  };
}

/** Stops waiting at the deadline, or when the caller leaves; the work itself goes on. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(deadlineFault());
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

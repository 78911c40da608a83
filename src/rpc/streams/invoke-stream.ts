/** The pipeline for streaming rpcs: the same steps as for unary ones up to the first response, then one response at a time. */

import { create, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { authorize, requireClass } from '../../auth/authorize.ts';
import { Fault, unavailableFault } from '../../domain/fault.ts';
import {
  type Admission,
  admit,
  authenticateCall,
  type Call,
  contextOf,
  type Decode,
  type Invocation,
  type InvokeDeps,
  reportFault,
  requireMessage,
  takeRequest,
  validateRequest,
} from '../invoke.ts';
import type { StreamMethod } from '../method.ts';
import { createRecheckSharing, type ShareRecheck } from './credential-recheck.ts';
import type { StreamWatch, UnreadResponse } from './stream-watch.ts';

type StreamCall = Call & {
  /** Aborts when the client has disconnected, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Breaks the connection off. */
  readonly cut: () => void;
};

/** The responses of a stream. `next` also reports that the client has read the one before; a Fault it throws ends the stream. */
export type ResponseStream = AsyncIterableIterator<Message, undefined> & {
  /** Ends the stream. Must always be called at the end; further calls do nothing. */
  readonly close: () => void;
};

export type InvokeStream = (method: StreamMethod, call: StreamCall, decode: Decode) => Promise<ResponseStream>;

type InvokeStreamDeps = InvokeDeps & {
  readonly streams: StreamWatch;
  readonly monotonicMs: () => number;
};

type Deps = InvokeStreamDeps & { readonly shareRecheck: ShareRecheck };
type Opening = Invocation<StreamMethod> & { readonly call: StreamCall; readonly startedAtMs: number };
type Init = MessageInitShape<StreamMethod['desc']['output']>;
type Opened = { readonly responses: AsyncIterator<Init, unknown>; readonly stop: AbortController };

export function createInvokeStream(streamDeps: InvokeStreamDeps): InvokeStream {
  const deps = { ...streamDeps, shareRecheck: createRecheckSharing(streamDeps.monotonicMs) };
  return async (method, call, decode) => {
    if (!deps.accepting()) throw unavailableFault('The server is shutting down; try again.', 1);
    const opening: Opening = { method, call, decode, startedAtMs: deps.clock() };
    try {
      call.quota.begin();
      const opened = await admit(deps, opening, (admission) => open(deps, opening, admission));
      if (method.handler.isIdle) call.quota.finish();
      return createResponseStream(deps, opening, opened);
    } catch (error) {
      call.quota.release();
      call.quota.finish();
      throw reportFault(deps, opening, error);
    }
  };
}

async function open(deps: InvokeStreamDeps, opening: Opening, admission: Admission): Promise<Opened> {
  const { method, call } = opening;
  const { handler } = method;
  const admitted = { ...opening, ...admission };
  const request = requireMessage(method, takeRequest(admitted, await opening.decode()));
  const message = request.message as never;
  validateRequest(opening, request, { checked: handler.check?.(message) ?? [], problems: [] });
  const stop = new AbortController();
  const onLeave = () => stop.abort();
  call.signal.addEventListener('abort', onLeave, { once: true });
  try {
    const responses = await handler.open(message, { ...contextOf(deps, admitted), signal: stop.signal });
    return { responses, stop };
  } catch (error) {
    // The handler releases what it acquired for the stream when the signal aborts.
    stop.abort();
    throw error;
  } finally {
    call.signal.removeEventListener('abort', onLeave);
  }
}

function createResponseStream(deps: Deps, opening: Opening, { responses, stop }: Opened): ResponseStream {
  const { method, call } = opening;
  const { quota } = call;
  let refuse: ((error: unknown) => void) | null = null;
  let failure: { readonly error: unknown } | null = null;
  let unread: UnreadResponse | null = null;
  let isClosed = false;

  function end(error: unknown): void {
    failure ??= { error };
    stop.abort();
    refuse?.(failure.error);
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    unwatch();
    call.signal.removeEventListener('abort', onLeave);
    stop.abort();
    // Pending work of the handler may still fail; the stream has ended, so the error is dropped.
    responses.return?.().catch(() => {});
    quota.finish();
    quota.release();
  }

  /** Rejects as soon as the stream is ended, even while the handler waits. */
  const readNext = () =>
    new Promise<IteratorResult<Init, unknown>>((resolve, reject) => {
      if (failure) return reject(failure.error);
      refuse = reject;
      responses.next().then(resolve, reject);
    });

  async function next(): Promise<IteratorResult<Message, undefined>> {
    unread = null;
    if (isClosed) return { done: true, value: undefined };
    quota.setResponse(0, true);
    try {
      const { done, value } = await readNext();
      if (!done) {
        unread = { sinceMs: deps.monotonicMs(), bytes: quota.responseBytes() };
        return { value: create(method.desc.output, value) };
      }
    } catch (error) {
      close();
      throw reportFault(deps, opening, error);
    } finally {
      refuse = null;
    }
    close();
    return { done: true, value: undefined };
  }

  const onLeave = () => end(new Fault('request_timeout', 'The caller left, or the deadline of the call has passed.'));
  const unwatch = deps.streams.watch({
    recheck: () => recheckCaller(deps, opening),
    end,
    cut: call.cut,
    unread: () => unread,
  });
  call.signal.addEventListener('abort', onLeave, { once: true });
  if (call.signal.aborted) onLeave();
  const stream: ResponseStream = {
    next,
    async return() {
      close();
      return { done: true, value: undefined };
    },
    close,
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

/** Authentication and authorization depend only on the policy and these headers. */
const CREDENTIAL_HEADERS = [
  ...['x-auth-token', 'authorization', 'x-project-id'],
  // Those that decide about a session.
  ...['cookie', 'x-spandrel-console', 'sec-fetch-site', 'origin', 'host', ':authority'],
];

function recheckCaller(deps: Deps, { method, call }: Opening): Promise<void> {
  const presented = JSON.stringify([method.path, ...CREDENTIAL_HEADERS.map((name) => call.header(name) ?? null)]);
  return deps.shareRecheck(presented, async () => {
    const caller = await authenticateCall(deps, method, call);
    requireClass(method.policy, caller);
    authorize(method.policy, caller);
  });
}

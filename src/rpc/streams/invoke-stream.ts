/** The one pipeline for rpcs that answer again and again: the same steps up to the first answer, then one answer at a time. */

import { create, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { authorize, requireClass } from '../../auth/authorize.ts';
import { Fault, unavailableFault } from '../../domain/fault.ts';
import {
  type Admission,
  type Asked,
  admit,
  type Call,
  contextOf,
  type Decode,
  type InvokeDeps,
  prove,
  readRequest,
  reportFault,
  requireMessage,
  validateRequest,
} from '../invoke.ts';
import type { StreamMethod } from '../method.ts';
import { createShareProof, type ShareProof } from './shared-proofs.ts';
import type { StreamWatch, Untaken } from './stream-watch.ts';

export type StreamCall = Call & {
  /** Aborts when the caller has left, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Breaks the connection off. */
  readonly cut: () => void;
};

/** Answers one by one. Asking for the next one says that the one before was taken; what is thrown is a Fault and the end. */
export type AnswerStream = AsyncIterableIterator<Message, undefined> & {
  /** Nobody wants more. To be called in any case, at the end and however often. */
  readonly close: () => void;
};

export type InvokeStream = (method: StreamMethod, call: StreamCall, decode: Decode) => Promise<AnswerStream>;

export type InvokeStreamDeps = InvokeDeps & {
  readonly streams: StreamWatch;
  readonly monotonicMs: () => number;
};

type Deps = InvokeStreamDeps & { readonly shareProof: ShareProof };
type Opening = Asked<StreamMethod> & { readonly call: StreamCall; readonly startedAtMs: number };
type Init = MessageInitShape<StreamMethod['desc']['output']>;
type Opened = { readonly answers: AsyncIterator<Init, unknown>; readonly stop: AbortController };

export function createInvokeStream(given: InvokeStreamDeps): InvokeStream {
  const deps = { ...given, shareProof: createShareProof(given.monotonicMs) };
  return async (method, call, decode) => {
    if (!deps.accepting()) throw unavailableFault('The server is shutting down; try again.', 1);
    const opening: Opening = { method, call, decode, startedAtMs: deps.clock() };
    try {
      call.quota.begin();
      const opened = await admit(deps, opening, (admission) => open(deps, opening, admission));
      if (method.handler.isIdle) call.quota.finish();
      return answer(deps, opening, opened);
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
  const asked = { ...opening, ...admission };
  const request = requireMessage(method, await readRequest(asked));
  const message = request.message as never;
  validateRequest(opening, request, { checked: handler.check?.(message) ?? [], problems: [] });
  const stop = new AbortController();
  const onLeave = () => stop.abort();
  call.signal.addEventListener('abort', onLeave, { once: true });
  try {
    const answers = await handler.open(message, { ...contextOf(deps, asked), signal: stop.signal });
    return { answers, stop };
  } catch (error) {
    // Whoever waits for the signal lets go of what was taken for the stream.
    stop.abort();
    throw error;
  } finally {
    call.signal.removeEventListener('abort', onLeave);
  }
}

function answer(deps: Deps, opening: Opening, { answers, stop }: Opened): AnswerStream {
  const { method, call } = opening;
  const { quota } = call;
  let refuse: ((error: unknown) => void) | null = null;
  let failure: { readonly error: unknown } | null = null;
  let untaken: Untaken | null = null;
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
    // What it was doing may still have to end; nobody is told how.
    answers.return?.().catch(() => {});
    quota.finish();
    quota.release();
  }

  /** Whatever the answers are waiting for, the end comes at once. */
  const takeNext = () =>
    new Promise<IteratorResult<Init, unknown>>((resolve, reject) => {
      if (failure) return reject(failure.error);
      refuse = reject;
      answers.next().then(resolve, reject);
    });

  async function next(): Promise<IteratorResult<Message, undefined>> {
    untaken = null;
    if (isClosed) return { done: true, value: undefined };
    quota.setAnswer(0, true);
    try {
      const { done, value } = await takeNext();
      if (!done) {
        untaken = { sinceMs: deps.monotonicMs(), bytes: quota.built() };
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
    prove: () => proveAgain(deps, opening),
    end,
    cut: call.cut,
    untaken: () => untaken,
  });
  call.signal.addEventListener('abort', onLeave, { once: true });
  if (call.signal.aborted) onLeave();
  const stream: AnswerStream = {
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

/** The policy and the headers decide alone who may. */
const PRESENTED = ['x-auth-token', 'authorization', 'x-project-id'];

function proveAgain(deps: Deps, { method, call }: Opening): Promise<void> {
  const presented = JSON.stringify([method.path, ...PRESENTED.map((name) => call.header(name) ?? null)]);
  return deps.shareProof(presented, async () => {
    const caller = await prove(deps, method, call);
    requireClass(method.policy, caller);
    authorize(method.policy, caller);
  });
}

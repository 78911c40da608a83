/** Follows traces as they change, and goes on where it was after a break. */

import { Code, ConnectError } from '@connectrpc/connect';
import type { TailTracesResponse, Trace } from '../../../gen/spandrel/v1/traces_pb.js';

export type FollowState = 'connecting' | 'live' | 'waiting' | 'refused';

export type FollowDeps = {
  /** `lastEventId` is of the last change that was told; empty: whatever changes from now on. */
  open(lastEventId: string, signal: AbortSignal): AsyncIterable<TailTracesResponse>;
  wait(delayMs: number, signal: AbortSignal): Promise<void>;
  random(): number;
  /** What is told begins here: what came before is for a search to find. */
  onBegin(): void;
  onTrace(trace: Trace): void;
  onLeftOut(count: number): void;
  onState(state: FollowState, error: unknown): void;
};

const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 30_000;
/** The server says each quarter of a minute that nothing changed: one that says nothing is gone. */
const SILENCE_MAX_MS = 45_000;

/** Trying again would not help. */
const LASTING: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.NotFound,
  Code.Unimplemented,
]);

/** Ends when the signal is given, or when the server refuses for good. */
export async function followTraces(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  let lastEventId = '';
  let failures = 0;
  while (!signal.aborted) {
    deps.onState('connecting', null);
    const error = await listen(deps, lastEventId, signal, (id) => {
      failures = 0;
      if (id !== '') lastEventId = id;
    });
    if (signal.aborted) return;
    if (error !== null && LASTING.has(ConnectError.from(error).code)) return deps.onState('refused', error);
    deps.onState('waiting', error);
    // Whoever lost the same server does not come back in the same moment.
    const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** failures) * (0.5 + deps.random() / 2);
    failures += 1;
    await deps.wait(delayMs, signal);
  }
}

/** One stream, until it ends; answers why, null where the server ended it without a reason. */
async function listen(
  deps: FollowDeps,
  lastEventId: string,
  signal: AbortSignal,
  onTold: (id: string) => void,
): Promise<unknown> {
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  const startTimer = () =>
    void deps.wait(SILENCE_MAX_MS, AbortSignal.any([either, told.signal])).then(
      () => silence.abort(),
      () => undefined,
    );
  let told = new AbortController();
  let hasBegun = false;
  startTimer();
  try {
    for await (const { id, change } of deps.open(lastEventId, either)) {
      told.abort();
      told = new AbortController();
      startTimer();
      onTold(id);
      if (!hasBegun) {
        hasBegun = true;
        deps.onState('live', null);
        deps.onBegin();
      }
      if (change.case === 'lagged') deps.onLeftOut(Number(change.value.dropped));
      else if (change.case === 'trace' && change.value.view.case === 'trace') deps.onTrace(change.value.view.value);
    }
    return null;
  } catch (error) {
    return error;
  } finally {
    told.abort();
  }
}

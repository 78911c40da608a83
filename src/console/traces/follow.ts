/** Follows traces as they change, and resumes after a lost connection. */

import { Code, ConnectError } from '@connectrpc/connect';
import type { TailTracesResponse, Trace } from '../../../gen/spandrel/v1/traces_pb.js';

export type FollowState = 'connecting' | 'live' | 'waiting' | 'refused';

type FollowDeps = {
  /** `lastEventId` is the id of the last received change; empty starts with new changes. */
  open(lastEventId: string, signal: AbortSignal): AsyncIterable<TailTracesResponse>;
  wait(delayMs: number, signal: AbortSignal): Promise<void>;
  random(): number;
  /** The stream begins: a search must find earlier changes. */
  onBegin(): void;
  onTrace(trace: Trace): void;
  onLeftOut(count: number): void;
  onState(state: FollowState, error: unknown): void;
};

const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 30_000;
/** The server sends a message at least every 15 seconds, so a longer silence means a lost connection. */
const SILENCE_MAX_MS = 45_000;

/** Errors that a retry cannot cure. */
const PERMANENT_CODES: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.NotFound,
  Code.Unimplemented,
]);

/** Ends when the signal aborts, or on a permanent error. */
export async function followTraces(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  let lastEventId = '';
  let failures = 0;
  while (!signal.aborted) {
    deps.onState('connecting', null);
    const error = await readStream(deps, lastEventId, signal, (id) => {
      failures = 0;
      if (id !== '') lastEventId = id;
    });
    if (signal.aborted) return;
    if (error !== null && PERMANENT_CODES.has(ConnectError.from(error).code)) return deps.onState('refused', error);
    deps.onState('waiting', error);
    // Random delays keep clients of a failed server from reconnecting all at once.
    const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** failures) * (0.5 + deps.random() / 2);
    failures += 1;
    await deps.wait(delayMs, signal);
  }
}

/** Reads one stream to its end. Returns the error, or null if the server ended it normally. */
async function readStream(
  deps: FollowDeps,
  lastEventId: string,
  signal: AbortSignal,
  onMessage: (id: string) => void,
): Promise<unknown> {
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  const startTimer = () =>
    void deps.wait(SILENCE_MAX_MS, AbortSignal.any([either, received.signal])).then(
      () => silence.abort(),
      () => undefined,
    );
  let received = new AbortController();
  let hasBegun = false;
  startTimer();
  try {
    for await (const { id, change } of deps.open(lastEventId, either)) {
      received.abort();
      received = new AbortController();
      startTimer();
      onMessage(id);
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
    received.abort();
  }
}

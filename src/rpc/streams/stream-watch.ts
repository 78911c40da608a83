/**
 * Supervises open streams: rechecks their credentials every few seconds, ends them when the process drains, and cuts those
 * whose client does not read its responses.
 */

import { unavailableFault } from '../../domain/fault.ts';

type WatchedStream = {
  /** Authenticates and authorizes the caller again. Rejects where that fails now. */
  readonly recheck: () => Promise<void>;
  readonly end: (error: unknown) => void;
  /** Breaks the connection off. */
  readonly cut: () => void;
  /** The response that the client has not read yet; null: none. */
  readonly unread: () => UnreadResponse | null;
};

export type UnreadResponse = { readonly sinceMs: number; readonly bytes: number };

export type StreamWatch = {
  /** Watches the stream until the returned function is called. */
  watch(stream: WatchedStream): () => void;
  /** Streams that are open now. */
  open(): number;
  stop(): void;
};

type StreamWatchDeps = {
  readonly monotonicMs: () => number;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

const CHECK_MS = 250;
/** The age of a check after which the next one starts, and the age after which a stream without a newer one ends. */
const RECHECK_AGE_MS = 4_000;
const RECHECK_AGE_MAX_MS = 9_000;
/** The share of streams that start a recheck in one round, so that streams opened together are not all checked at once. */
const RECHECKS_PER_ROUND = 1 / 8;
/** The time that a client has to read a response, and the lowest rate beyond that. */
const READ_GRACE_MS = 30_000;
const READ_BYTES_PER_SECOND_MIN = 131_072;
const RETRY_AFTER_SECONDS = 1;

type State = { checkedAtMs: number; isRechecking: boolean };

/** Time comes from the process; tests pass their own. */
export function createStreamWatch({ monotonicMs, accepting, wait }: StreamWatchDeps): StreamWatch {
  const streams = new Map<WatchedStream, State>();
  const stopping = new AbortController();
  let isChecking = false;

  async function checkWhileOpen(): Promise<void> {
    while (streams.size > 0 && !stopping.signal.aborted) {
      await wait(CHECK_MS, stopping.signal);
      checkAll(monotonicMs());
    }
    isChecking = false;
  }

  function checkAll(nowMs: number): void {
    let rechecksLeft = Math.ceil(streams.size * RECHECKS_PER_ROUND);
    for (const [stream, state] of streams) {
      const ageMs = nowMs - state.checkedAtMs;
      if (!accepting()) stream.end(unavailableFault('The server is shutting down; try again.', RETRY_AFTER_SECONDS));
      else if (ageMs > RECHECK_AGE_MAX_MS) {
        stream.end(unavailableFault('The credential could not be checked again; try again.', RETRY_AFTER_SECONDS));
      } else if (isLate(stream.unread(), nowMs)) stream.cut();
      else if (ageMs > RECHECK_AGE_MS && !state.isRechecking && rechecksLeft > 0) {
        rechecksLeft -= 1;
        void recheckOne(stream, state);
      }
    }
  }

  async function recheckOne(stream: WatchedStream, state: State): Promise<void> {
    state.isRechecking = true;
    const startedAtMs = monotonicMs();
    try {
      await stream.recheck();
      state.checkedAtMs = startedAtMs;
    } catch (error) {
      stream.end(error);
    } finally {
      state.isRechecking = false;
    }
  }

  return {
    watch(stream) {
      streams.set(stream, { checkedAtMs: monotonicMs(), isRechecking: false });
      if (!isChecking) {
        isChecking = true;
        void checkWhileOpen();
      }
      return () => void streams.delete(stream);
    },
    open: () => streams.size,
    stop: () => stopping.abort(),
  };
}

function isLate(unread: UnreadResponse | null, nowMs: number): boolean {
  if (unread === null) return false;
  return nowMs - unread.sinceMs > READ_GRACE_MS + (unread.bytes / READ_BYTES_PER_SECOND_MIN) * 1_000;
}

/**
 * Looks after open streams of answers: each proves its credential again every few seconds, ends when the process drains,
 * and is cut where its caller does not take what waits for it.
 */

import { unavailableFault } from '../../domain/fault.ts';

export type WatchedStream = {
  /** Proves again that the caller may have it. Rejects where that is not so any more. */
  readonly prove: () => Promise<void>;
  readonly end: (error: unknown) => void;
  /** Breaks the connection off. */
  readonly cut: () => void;
  /** The answer that waits to be taken; null: none does. */
  readonly untaken: () => Untaken | null;
};

export type Untaken = { readonly sinceMs: number; readonly bytes: number };

export type StreamWatch = {
  /** Watches the stream until what is answered is called. */
  watch(stream: WatchedStream): () => void;
  /** Streams that are open now. */
  open(): number;
  stop(): void;
};

export type StreamWatchDeps = {
  readonly monotonicMs: () => number;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

const SWEEP_MS = 250;
/** How old a proof is when the next one begins, and when a stream without another one ends. */
const PROOF_AGE_MS = 4_000;
const PROOF_AGE_MAX_MS = 9_000;
/** Streams that were opened together do not prove themselves all at once. */
const PROOFS_PER_SWEEP = 1 / 8;
/** What every answer may take, and how slowly beyond that. */
const TAKE_GRACE_MS = 30_000;
const TAKE_BYTES_PER_SECOND_MIN = 131_072;
const RETRY_AFTER_SECONDS = 1;

type State = { provenAtMs: number; isProving: boolean };

/** The clock and the wait are the process's own. */
export function createStreamWatch({ monotonicMs, accepting, wait }: StreamWatchDeps): StreamWatch {
  const streams = new Map<WatchedStream, State>();
  const stopping = new AbortController();
  let isSweeping = false;

  async function sweepWhileOpen(): Promise<void> {
    while (streams.size > 0 && !stopping.signal.aborted) {
      await wait(SWEEP_MS, stopping.signal);
      sweep(monotonicMs());
    }
    isSweeping = false;
  }

  function sweep(nowMs: number): void {
    let proofsLeft = Math.ceil(streams.size * PROOFS_PER_SWEEP);
    for (const [stream, state] of streams) {
      const ageMs = nowMs - state.provenAtMs;
      if (!accepting()) stream.end(unavailableFault('The server is shutting down; try again.', RETRY_AFTER_SECONDS));
      else if (ageMs > PROOF_AGE_MAX_MS) {
        stream.end(unavailableFault('The credential could not be checked again; try again.', RETRY_AFTER_SECONDS));
      } else if (isLate(stream.untaken(), nowMs)) stream.cut();
      else if (ageMs > PROOF_AGE_MS && !state.isProving && proofsLeft > 0) {
        proofsLeft -= 1;
        void prove(stream, state);
      }
    }
  }

  async function prove(stream: WatchedStream, state: State): Promise<void> {
    state.isProving = true;
    const askedAtMs = monotonicMs();
    try {
      await stream.prove();
      state.provenAtMs = askedAtMs;
    } catch (error) {
      stream.end(error);
    } finally {
      state.isProving = false;
    }
  }

  return {
    watch(stream) {
      streams.set(stream, { provenAtMs: monotonicMs(), isProving: false });
      if (!isSweeping) {
        isSweeping = true;
        void sweepWhileOpen();
      }
      return () => void streams.delete(stream);
    },
    open: () => streams.size,
    stop: () => stopping.abort(),
  };
}

function isLate(untaken: Untaken | null, nowMs: number): boolean {
  if (untaken === null) return false;
  return nowMs - untaken.sinceMs > TAKE_GRACE_MS + (untaken.bytes / TAKE_BYTES_PER_SECOND_MIN) * 1_000;
}

/**
 * A log that says once that the store is away and once that it is back. Meanwhile everything fails for the same reason:
 * requests, jobs and deliveries, and a line for each would fill the disk just when somebody reads it.
 */

import { Fault } from './domain/fault.ts';
import type { Wait } from './schedule.ts';

export type Log = {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
};

export type OutageLogDeps = {
  readonly log: Log;
  /** Resolves when the store can read and write. */
  readonly ready: () => Promise<void>;
  readonly monotonicMs: () => number;
  readonly wait: Wait;
};

export type OutageLog = {
  /**
   * To be used instead of the other. Warnings whose `err` says that something is unavailable wait for what `ready` says, and
   * so do lines whose `code` says it.
   */
  readonly log: Log;
  /** Looks no more. */
  stop(): void;
};

const LOOK_AGAIN_MS = 1_000;
const UNDECIDED_MAX = 100;
/** Requests that were refused are counted for a second before that is told. */
const COUNTED_LATE_MS = 2_000;

export function createOutageLog({ log, ready, monotonicMs, wait }: OutageLogDeps): OutageLog {
  const stopping = new AbortController();
  let isLooking = false;
  let backAtMs = Number.NEGATIVE_INFINITY;
  // What was told of unavailable things before it was known whether the store is away.
  let undecided: (() => void)[] | null = null;

  function warn(fields: object, message: string): void {
    const fault = 'err' in fields ? fields.err : null;
    if (fault instanceof Fault && fault.kind === 'unavailable') {
      // Its words are enough: it is no mistake of the code that its stack leads to.
      const told = { ...fields, err: undefined, cause: causeText(fault) };
      hold(told, message);
    } else log.warn(fields, message);
  }

  function hold(told: { readonly cause: string }, message: string): void {
    if (isLooking) log.debug(told, message);
    else void look(told, message);
  }

  function info(fields: object, message: string): void {
    const isOfOutage = isLooking || monotonicMs() < backAtMs + COUNTED_LATE_MS;
    const isTheSame = isOfOutage && 'code' in fields && fields.code === 'unavailable';
    if (!isTheSame) log.info(fields, message);
    else if (undecided !== null && undecided.length < UNDECIDED_MAX) undecided.push(() => log.info(fields, message));
    else log.debug(fields, message);
  }

  async function look(told: { readonly cause: string }, message: string): Promise<void> {
    isLooking = true;
    undecided = [];
    const sinceMs = monotonicMs();
    const isAway = !(await isReady());
    const held = undecided;
    undecided = null;
    if (!isAway) {
      log.warn(told, message);
      for (const tell of held) tell();
    } else {
      log.warn({ cause: told.cause }, 'the store is away');
      do await wait(LOOK_AGAIN_MS, stopping.signal);
      while (!stopping.signal.aborted && !(await isReady()));
      backAtMs = monotonicMs();
      if (!stopping.signal.aborted) log.info({ awayMs: Math.round(backAtMs - sinceMs) }, 'the store is back');
    }
    isLooking = false;
  }

  async function isReady(): Promise<boolean> {
    try {
      await ready();
      return true;
    } catch {
      return false;
    }
  }

  return {
    log: {
      error: (fields, message) => log.error(fields, message),
      warn,
      info,
      debug: (fields, message) => log.debug(fields, message),
      isLevelEnabled: (level) => log.isLevelEnabled(level),
    },
    stop: () => stopping.abort(),
  };
}

function causeText({ cause, message }: Fault): string {
  if (cause === undefined) return message;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

/**
 * A log that reports an outage of the store once at its start and once at its end. During an outage all requests, jobs and
 * deliveries fail for the same reason, and a line for each would bury the others.
 */

import { Fault } from '../domain/fault.ts';
import type { Wait } from '../scheduling/schedule.ts';

export type Log = {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
};

type OutageLogDeps = {
  readonly log: Log;
  /** Resolves when the store can read and write. */
  readonly ready: () => Promise<void>;
  readonly monotonicMs: () => number;
  readonly wait: Wait;
};

const POLL_INTERVAL_MS = 1_000;
const UNDECIDED_MAX = 100;
/** After an outage, counts of refused requests still arrive for a while: the call log sums them up over a second. */
const DELAYED_COUNTS_MS = 2_000;

export function createOutageLog({ log, ready, monotonicMs, wait }: OutageLogDeps) {
  const stopping = new AbortController();
  let isWatching = false;
  let backAtMs = Number.NEGATIVE_INFINITY;
  // Lines that wait until it is known whether the store is unavailable.
  let undecided: (() => void)[] | null = null;

  function warn(fields: object, message: string): void {
    const fault = 'err' in fields ? fields.err : null;
    if (fault instanceof Fault && fault.kind === 'unavailable') {
      // The message is enough: an unavailable store is not a bug, so the stack does not help.
      const line = { ...fields, err: undefined, cause: causeText(fault) };
      hold(line, message);
    } else log.warn(fields, message);
  }

  function hold(line: { readonly cause: string }, message: string): void {
    if (isWatching) log.debug(line, message);
    else void watchOutage(line, message);
  }

  function info(fields: object, message: string): void {
    const isOfOutage = isWatching || monotonicMs() < backAtMs + DELAYED_COUNTS_MS;
    const isTheSame = isOfOutage && 'code' in fields && fields.code === 'unavailable';
    if (!isTheSame) log.info(fields, message);
    else if (undecided !== null && undecided.length < UNDECIDED_MAX) undecided.push(() => log.info(fields, message));
    else log.debug(fields, message);
  }

  async function watchOutage(line: { readonly cause: string }, message: string): Promise<void> {
    isWatching = true;
    undecided = [];
    const sinceMs = monotonicMs();
    const isAway = !(await isReady());
    const held = undecided;
    undecided = null;
    if (!isAway) {
      log.warn(line, message);
      for (const logLine of held) logLine();
    } else {
      log.warn({ cause: line.cause }, 'the store is away');
      do await wait(POLL_INTERVAL_MS, stopping.signal);
      while (!stopping.signal.aborted && !(await isReady()));
      backAtMs = monotonicMs();
      if (!stopping.signal.aborted) log.info({ awayMs: Math.round(backAtMs - sinceMs) }, 'the store is back');
    }
    isWatching = false;
  }

  async function isReady(): Promise<boolean> {
    try {
      await ready();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Wraps the given log. Warnings with an unavailable Fault in `err`, and lines with the `code` unavailable, are logged only
   * if `ready` shows that the store works; during an outage they go to level debug.
   */
  const wrapped: Log = {
    error: (fields, message) => log.error(fields, message),
    warn,
    info,
    debug: (fields, message) => log.debug(fields, message),
    isLevelEnabled: (level) => log.isLevelEnabled(level),
  };
  return {
    log: wrapped,
    /** Stops polling the store. */
    stop: () => stopping.abort(),
  };
}

function causeText({ cause, message }: Fault): string {
  if (cause === undefined) return message;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

/** Sends traces until they are acknowledged, as SDKs behind a load balancer do, and counts refusals. */

import { setTimeout as delay } from 'node:timers/promises';
import { PROJECT_KEY } from './server.ts';

export type TraceSenderOptions = {
  /** Called per attempt; attempts use all in turn. */
  readonly addresses: () => readonly string[];
  /** A longer attempt counts as hung. */
  readonly answerMaxMs?: number;
  /** The limit of retries of one trace. */
  readonly patienceMs?: number;
};

export type Refusals = {
  /** Attempts that ended without an answer. */
  cut: number;
  /** Attempts answered 503 with Retry-After. */
  unavailable: number;
  /** All other failures; there must be none. */
  readonly wrong: string[];
};

export type TraceSender = {
  /** Resolves once the trace is acknowledged. */
  send(trace: { readonly trace_id: string }): Promise<void>;
  /** Ids of acknowledged traces. */
  readonly acknowledged: readonly string[];
  readonly refusals: Readonly<Refusals>;
};

// Shorter than Retry-After, because tests measure the recovery time.
const PAUSE_MS = 25;

export function createTraceSender({
  addresses,
  answerMaxMs = 10_000,
  patienceMs = 30_000,
}: TraceSenderOptions): TraceSender {
  const acknowledged: string[] = [];
  const refusals: Refusals = { cut: 0, unavailable: 0, wrong: [] };
  let turn = 0;

  async function attempt(body: string): Promise<boolean> {
    const choice = addresses();
    turn += 1;
    const address = choice[turn % choice.length] ?? '';
    const startedMs = performance.now();
    try {
      const answer = await fetch(`${address}/api/collector`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-auth-token': PROJECT_KEY },
        body,
        signal: AbortSignal.timeout(answerMaxMs),
      });
      const text = await answer.text();
      if (answer.status === 200) return true;
      if (answer.status === 503 && answer.headers.get('retry-after') !== null) refusals.unavailable += 1;
      else refusals.wrong.push(`${answer.status}: ${text}`);
    } catch {
      if (performance.now() - startedMs >= answerMaxMs) refusals.wrong.push(`no answer within ${answerMaxMs} ms`);
      else refusals.cut += 1;
    }
    return false;
  }

  return {
    acknowledged,
    refusals,
    async send(trace) {
      const body = JSON.stringify(trace);
      const endMs = performance.now() + patienceMs;
      while (!(await attempt(body))) {
        if (performance.now() > endMs) throw new Error(`a trace was not acknowledged within ${patienceMs} ms`);
        await delay(PAUSE_MS);
      }
      acknowledged.push(trace.trace_id);
    },
  };
}

export type Load = {
  /** Waits for requests under way. */
  stop(): Promise<void>;
};

/** Starts clients that each send one trace after another. */
export function startLoad(clients: number, sendNext: () => Promise<void>): Load {
  let isRunning = true;
  const running = Promise.all(
    Array.from({ length: clients }, async () => {
      while (isRunning) await sendNext();
    }),
  );
  // `stop` reports a failure.
  running.catch(() => undefined);
  return {
    async stop() {
      isRunning = false;
      await running;
    },
  };
}

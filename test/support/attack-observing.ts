/** Controls the observer, which watches a server from another process. */

import { type ChildProcess, fork } from 'node:child_process';
import { until } from './temp.ts';

export type ObserverOrders = {
  readonly address: string;
  readonly pid: number;
  /** A project key. */
  readonly key: string;
  /** The key of a project whose guardrail is called, too; null: none is. */
  readonly guardrailKey: string | null;
  /** Whether it searches and sums up its traces, too. */
  readonly searches: boolean;
};

export type ObserverReport = {
  /** Ended requests of the client. */
  readonly n: number;
  /** Measured from the due time. */
  readonly p99Ms: number;
  readonly failures: readonly string[];
  readonly rssMaxBytes: number;
  /** The longest stall of the server's event loop in milliseconds, without waits for a processor. */
  readonly stallMs: number;
  /** The factor by which waits for a processor slowed the run. */
  readonly slowdown: number;
};

export type ObserverMessage =
  | { readonly kind: 'served' }
  | { readonly kind: 'begun' }
  | { readonly kind: 'report'; readonly report: ObserverReport };

export type Observer = {
  /** Starts a new window; in the full tier, waits until the server's metrics hold nothing from before. */
  begin(): Promise<void>;
  /** Resolves after this many more requests have ended, failed or not. */
  serves(answers: number): Promise<void>;
  end(): Promise<ObserverReport>;
  close(): void;
};

const FILE = new URL('./attack-observer.ts', import.meta.url).pathname;
const SERVED_WITHIN_MS = 30_000;

export function startObserver(orders: ObserverOrders): Observer {
  const child: ChildProcess = fork(FILE, [JSON.stringify(orders)], { execArgv: [] });
  // Sending to a child that has ended emits an error.
  child.on('error', () => undefined);
  let served = 0;
  let hasBegun = false;
  let report: ObserverReport | null = null;
  child.on('message', (message: ObserverMessage) => {
    if (message.kind === 'served') served += 1;
    else if (message.kind === 'begun') hasBegun = true;
    else report = message.report;
  });
  return {
    async begin() {
      hasBegun = false;
      child.send('begin');
      await until(() => hasBegun || child.exitCode !== null, SERVED_WITHIN_MS);
    },
    async serves(answers) {
      const enough = served + answers;
      await until(() => served >= enough || child.exitCode !== null, SERVED_WITHIN_MS);
    },
    async end() {
      report = null;
      child.send('end');
      await until(() => report !== null, SERVED_WITHIN_MS);
      return report as unknown as ObserverReport;
    },
    close: () => void child.kill('SIGKILL'),
  };
}

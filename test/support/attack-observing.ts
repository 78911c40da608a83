/** Orders an observer, which watches a server from a process of its own. */

import { type ChildProcess, fork } from 'node:child_process';
import { until } from './temp.ts';

export type ObserverOrders = {
  readonly address: string;
  readonly pid: number;
  /** A project key. */
  readonly key: string;
};

export type ObserverReport = {
  /** Answers to the client that means well. */
  readonly n: number;
  /** From when a question was due. */
  readonly p99Ms: number;
  readonly failures: readonly string[];
  readonly rssMaxBytes: number;
  /** The longest that the server's event loop attended to nobody, had it had a processor all the time. */
  readonly stallMs: number;
  /** How many times longer everything took because others had the processors. */
  readonly slowdown: number;
};

export type ObserverTold =
  | { readonly kind: 'served' }
  | { readonly kind: 'begun' }
  | { readonly kind: 'report'; readonly report: ObserverReport };

export type Observer = {
  /** Forgets what was before; in the long run also what the server adds to its figures of that afterwards. */
  begin(): Promise<void>;
  /** Resolves once so many more questions were answered, well or not. */
  serves(answers: number): Promise<void>;
  end(): Promise<ObserverReport>;
  close(): void;
};

const FILE = new URL('./attack-observer.ts', import.meta.url).pathname;
const SERVED_WITHIN_MS = 30_000;

export function startObserver(orders: ObserverOrders): Observer {
  const child: ChildProcess = fork(FILE, [JSON.stringify(orders)], { execArgv: [] });
  // One that was closed has nothing more to hear.
  child.on('error', () => undefined);
  let served = 0;
  let hasBegun = false;
  let report: ObserverReport | null = null;
  child.on('message', (told: ObserverTold) => {
    if (told.kind === 'served') served += 1;
    else if (told.kind === 'begun') hasBegun = true;
    else report = told.report;
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

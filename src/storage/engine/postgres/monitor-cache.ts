/**
 * The monitors that run by themselves, as this process knows them. Another process may change them at any time, so every
 * batch ends with a look whether they are still the ones that it went by; a batch that went by others stores nothing, and
 * is applied again. An append that begins after a change was acknowledged thus never misses it.
 */

import { findChange, listRunning } from '../../../../gen/storage/postgres/monitors.ts';
import { createRunningMonitors, type RunningMonitors } from '../../monitors/running.ts';
import { createAsk } from './ask.ts';
import type { Lane, Statement } from './connection.ts';
import type { SentTransaction } from './transaction.ts';

export type MonitorCache = Pick<RunningMonitors, 'change' | 'monitorsOf'> & {
  load(): Promise<void>;
  /** Makes the transaction fail when monitors have changed. */
  check(transaction: SentTransaction): void;
};

// Nobody waits for the answer, so what is outdated has to fail.
const CHECK: Statement = {
  name: 'check-monitors',
  text: 'SELECT 1 / (CASE WHEN number = $1 THEN 1 ELSE 0 END) FROM monitor_changes',
};

export function createMonitorCache(lane: Lane): MonitorCache {
  const ask = createAsk(lane);
  const known = createRunningMonitors();
  return {
    change: known.change,
    monitorsOf: known.monitorsOf,
    async load() {
      // First: what changes meanwhile has another number, and is read again.
      const [row] = await ask(findChange, {});
      known.keep(row?.number ?? 0, await ask(listRunning, {}));
    },
    check: ({ post }) => post(CHECK, [known.change()]),
  };
}

/** Warns of a limit of open files below what the settings allow the server to open. */

import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';

/** Idle connections to receivers, files, databases, threads. */
const OTHERS = 1_500;

type Settings = {
  readonly limits: Pick<Config['limits'], 'connectionsMax'>;
  readonly webhooks: Pick<Config['webhooks'], 'concurrencyMax'>;
};

/** The line of the warning; null when the limit suffices. */
export function openFilesWarning({ limits, webhooks }: Settings, limit: number): string | null {
  const needed = limits.connectionsMax + webhooks.concurrencyMax + OTHERS;
  if (limit >= needed) return null;
  return (
    `this process may open ${limit} files and connections, and its settings allow about ${needed}: raise the limit ` +
    '(LimitNOFILE, ulimit -n), or lower SPANDREL_MAX_CONNECTIONS and SPANDREL_WEBHOOK_CONCURRENCY'
  );
}

/** Infinite where the system does not tell. Node raises its limit as far as it may before this code runs. */
export function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

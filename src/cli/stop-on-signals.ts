/** Stops a server on a signal, or when its parent process is gone. */

import type { App } from '../app.ts';
import type { Store } from '../domain/store.ts';

type Running = {
  readonly app: Pick<App, 'stop'>;
  readonly store: Pick<Store, 'close'>;
  readonly log: { info(message: string): void; fatal(fields: object, message: string): void };
  /** Whether the parent is a shell that forwards no signals, as with npx. */
  readonly isBehindShell: boolean;
};

/** A Ctrl-C reaches this process from the terminal, and again from npm, which passes it on. */
const REPEATED_SIGNAL_MS = 1_000;
const PARENT_POLL_MS = 250;

/** The first signal drains the server, a later one exits at once. */
export function stopOnSignals({ app, store, log, isBehindShell }: Running): void {
  let stoppingSinceMs: number | null = null;
  const stop = async () => {
    if (stoppingSinceMs !== null) {
      if (performance.now() - stoppingSinceMs > REPEATED_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSinceMs = performance.now();
    log.info('stopping');
    try {
      await app.stop();
      await store.close();
      log.info('stopped');
      process.exit(0);
    } catch (error) {
      log.fatal({ err: error }, 'the stop failed');
      process.exit(1);
    }
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error');
    process.exit(1);
  });
  if (isBehindShell) onceOrphaned(stop);
}

/** Calls `act` when the parent process changes: the shell dies of the signal without forwarding it. */
function onceOrphaned(act: () => void): void {
  const parent = process.ppid;
  const polling = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(polling);
    act();
  }, PARENT_POLL_MS).unref();
}

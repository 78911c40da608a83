/** Ends a server when it is asked to, in whichever way that is told. */

import type { App } from '../app.ts';
import type { Store } from '../domain/store.ts';

export type Running = {
  readonly app: Pick<App, 'stop'>;
  readonly store: Pick<Store, 'close'>;
  readonly log: { info(message: string): void; fatal(fields: object, message: string): void };
  /** Whether a shell that passes no signal on stands between this process and whoever stops it, as npx has it. */
  readonly isBehindShell: boolean;
};

/** A Ctrl-C reaches this process from the terminal, and again from npm, which passes it on. */
const SAME_WISH_MS = 1_000;
const LOOK_FOR_PARENT_MS = 250;

/** The first signal drains, a later one does not wait. */
export function stopOnSignals({ app, store, log, isBehindShell }: Running): void {
  let stoppingSinceMs: number | null = null;
  const stop = async () => {
    if (stoppingSinceMs !== null) {
      if (performance.now() - stoppingSinceMs > SAME_WISH_MS) process.exit(1);
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

/** The shell dies of the signal, and whoever looks after this process from then on is another. */
function onceOrphaned(act: () => void): void {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    act();
  }, LOOK_FOR_PARENT_MS).unref();
}

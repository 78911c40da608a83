/** A script that runs when this process has ended, even by a signal that no handler sees. */

import { type SpawnOptions, spawn } from 'node:child_process';

export type LastWill = {
  /** Runs the script now and waits for its end. */
  execute(): Promise<void>;
  /** Cancels it. */
  revoke(): void;
};

/**
 * A shell waits for the end of its input, which comes with the end of this process at the latest, and then runs the
 * script over its arguments, $0 first. In a session of its own it gets no signal of a terminal.
 */
export function leaveWill(script: string, args: readonly string[], options: SpawnOptions = {}): LastWill {
  const child = spawn('sh', ['-c', `cat\n${script}`, ...args], {
    cwd: '/',
    ...options,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    async execute() {
      child.ref();
      child.stdin?.end();
      await ended;
    },
    revoke: () => void child.kill('SIGKILL'),
  };
}

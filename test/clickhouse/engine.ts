/** Starts the embedded ClickHouse in a process of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type EmbeddedEngine = {
  /** Of the server, without a database. */
  readonly url: string;
  readonly port: number;
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/** `port` 0: any that is free. The folder has its data, also of an engine that was killed. */
export async function startEngine(folder: string, port = 0): Promise<EmbeddedEngine> {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'server.ts'), folder, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const [said] = (await once(createInterface(server.stdout), 'line')) as [string];
  return {
    url: `clickhouse://127.0.0.1:${said}`,
    port: Number(said),
    async stop(signal) {
      server.kill(signal);
      await ended;
    },
  };
}

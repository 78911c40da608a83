/** Starts ClickHouse for the tests of a run, or uses the server of SPANDREL_TEST_CLICKHOUSE_URL. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestProject } from 'vitest/node';
import { temporaryFolder } from '../support/temp.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** An address of ClickHouse without a database. Set by the setup of the project "clickhouse". */
    clickHouse: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const known = process.env.SPANDREL_TEST_CLICKHOUSE_URL;
  if (known !== undefined) {
    project.provide('clickHouse', known.replace(/\/+$/, ''));
    return async () => undefined;
  }
  const folder = temporaryFolder();
  const server = spawn(process.execPath, [join(import.meta.dirname, 'server.ts'), folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(createInterface(server.stdout), 'line')) as [string];
  project.provide('clickHouse', `clickhouse://127.0.0.1:${port}`);
  return async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
    folder.remove();
  };
}

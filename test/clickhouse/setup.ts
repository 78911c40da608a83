/** Starts ClickHouse for the tests of a run, or uses the server of SPANDREL_TEST_CLICKHOUSE_URL. */

import type { TestProject } from 'vitest/node';
import { temporaryFolder } from '../support/temp.ts';
import { startEngine } from './engine.ts';

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
  const engine = await startEngine(folder.path);
  project.provide('clickHouse', engine.url);
  return async () => {
    await engine.stop('SIGTERM');
    folder.remove();
  };
}

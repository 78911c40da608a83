/** Starts one PostgreSQL for all tests of a run that need one, with a database in it that the others are copied from. */

import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/storage/open.ts';
import { startCluster } from './postgres.ts';
import { query } from './postgres-databases.ts';
import { memoryFolder } from './temp.ts';

const TEMPLATE = 'empty';
// Databases live for a second or two here: nothing is gained by tidying them up or by compiling what is asked of them.
const SETTINGS = { autovacuum: 'off', jit: 'off' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const inMemory = memoryFolder();
  const cluster = await startCluster({ settings: SETTINGS, ...(inMemory === null ? {} : { dataIn: inMemory }) });
  const address = cluster.url('postgres');
  // It sorts as dictionaries do, like the databases of most operators: what must be by bytes has to say so itself.
  await query(address, `CREATE DATABASE ${TEMPLATE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  const log = { warn: () => undefined, error: () => undefined };
  const store = await openStore({ url: cluster.url(TEMPLATE), queueMaxBytes: 1024 * 1024, log });
  await store.close();
  const strategy = inMemory === null ? 'WAL_LOG' : 'FILE_COPY';
  project.provide('postgres', { address, template: { name: TEMPLATE, strategy } });
  return () => cluster.remove();
}

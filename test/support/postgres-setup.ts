/** Starts one PostgreSQL for all tests of a run that need one, with a database in it that the others are copied from. */

import type { TestProject } from 'vitest/node';
import { monthOf } from '../../src/storage/engine/postgres/months.ts';
import { openStore } from '../../src/storage/open.ts';
import { RECEIVED_AT_MS } from '../storage/conformance/samples.ts';
import { startCluster } from './postgres.ts';
import { query } from './postgres-databases.ts';
import { memoryFolder } from './temp.ts';

const TEMPLATE = 'empty';
// Databases live for a second or two here: nothing is gained by tidying them up, by compiling what is asked of them, or
// by writing down what only replicas and torn pages of a disk need.
const SETTINGS = { autovacuum: 'off', jit: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const inMemory = memoryFolder();
  const cluster = await startCluster({ settings: SETTINGS, ...(inMemory === null ? {} : { dataIn: inMemory }) });
  const address = cluster.url('postgres');
  // It sorts as dictionaries do, like the databases of most operators: what must be by bytes has to say so itself.
  await query(address, `CREATE DATABASE ${TEMPLATE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  const log = { warn: () => undefined, error: () => undefined };
  const store = await openStore({ url: cluster.url(TEMPLATE), queueMaxBytes: 1024 * 1024, log });
  await store.close();
  // What a first append makes otherwise, in each of hundreds of databases; those that tests make empty lack them.
  const months = [monthOf(RECEIVED_AT_MS), monthOf(Date.now()), monthOf(Date.now()) + 1];
  await query(cluster.url(TEMPLATE), months.map((month) => `SELECT create_month(${month})`).join(';'));
  const strategy = inMemory === null ? 'WAL_LOG' : 'FILE_COPY';
  project.provide('postgres', { address, template: { name: TEMPLATE, strategy } });
  return () => cluster.remove();
}

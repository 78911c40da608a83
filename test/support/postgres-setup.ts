/** Starts one PostgreSQL for all tests of a run, with an empty database that tests copy. */

import type { TestProject } from 'vitest/node';
import { monthOf } from '../../src/storage/engine/postgres/months.ts';
import { openStore } from '../../src/storage/open.ts';
import { RECEIVED_AT_MS } from '../storage/conformance/samples.ts';
import { startCluster } from './postgres.ts';
import { query } from './postgres-databases.ts';
import { memoryFolder } from './temp.ts';

const TEMPLATE = 'empty';
// Databases live only for seconds: vacuum and compiled queries do not pay off, and replicas or torn disk pages do not
// occur.
const SETTINGS = { autovacuum: 'off', jit: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const inMemory = memoryFolder();
  const cluster = await startCluster({ settings: SETTINGS, ...(inMemory === null ? {} : { dataIn: inMemory }) });
  const address = cluster.url('postgres');
  // The collation sorts like dictionaries, as most operators' do: queries that need byte order must say so.
  await query(address, `CREATE DATABASE ${TEMPLATE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  const log = { warn: () => undefined, error: () => undefined };
  const store = await openStore({ url: cluster.url(TEMPLATE), queueMaxBytes: 1024 * 1024, log });
  await store.close();
  // Partitions that the first append would create in each database. Databases that tests create empty lack them.
  const months = [monthOf(RECEIVED_AT_MS), monthOf(Date.now()), monthOf(Date.now()) + 1];
  await query(cluster.url(TEMPLATE), months.map((month) => `SELECT create_month(${month})`).join(';'));
  const strategy = inMemory === null ? 'WAL_LOG' : 'FILE_COPY';
  project.provide('postgres', { address, template: { name: TEMPLATE, strategy } });
  return () => cluster.remove();
}

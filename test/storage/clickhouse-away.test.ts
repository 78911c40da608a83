import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { examine } from '../../src/cli/doctor/doctor.ts';
import { ALL_TRACES } from '../../src/domain/traces/search/trace-search-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const limits = { queueMaxBytes: 1_048_576 };
const FILTER = { conditions: [], isNegated: false, text: 'polite' };

/** Nothing listens there. */
const NOWHERE = 'clickhouse://127.0.0.1:9/none';

it('while ClickHouse is away traces are stored and read, and searches say when to try again', async () => {
  const database = await createTestDatabase();
  const warned: string[] = [];
  const log = { ...quietLog, warn: (_: object, message: string) => void warned.push(message) };
  const store = await openStore({ url: database.url, telemetryUrl: NOWHERE, ...limits, log });
  expect(warned).toEqual(['ClickHouse is away: traces are not searched or summed up until it is back']);
  const append = sampleAppend();
  await store.traces.append(append);
  expect(await store.traces.find(PROJECT.number, append.traceId)).toMatchObject({ spanCount: 1 });
  const query = { ...ALL_TRACES, filter: FILTER, projectNumber: PROJECT.number, sort: 'started_at' } as const;
  await expect(store.search.find({ ...query, isAscending: false, limit: 10 })).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: expect.any(Number),
  });
  await store.close();
  await database.remove();
});

it('a server that is too old is refused at the start, and by the doctor', async () => {
  const old = createServer((_, response) => void response.end('{"version":"23.3.1.2823","readonly":0}\n'));
  await once(old.listen(0, '127.0.0.1'), 'listening');
  const telemetryUrl = `clickhouse://127.0.0.1:${(old.address() as AddressInfo).port}/spandrel`;
  const database = await createTestDatabase();
  const says = 'ClickHouse 23.3.1.2823 is too old: SPANDREL_TELEMETRY_URL needs 24.8 or newer';
  await expect(openStore({ url: database.url, telemetryUrl, ...limits, log: quietLog })).rejects.toThrow(says);
  expect(await telemetryFinding({ ...database.environment, SPANDREL_TELEMETRY_URL: telemetryUrl })).toMatchObject({
    level: 'fail',
    text: expect.stringContaining(says),
  });
  old.close();
  await database.remove();
});

it('the doctor says that ClickHouse is away', async () => {
  const database = await createTestDatabase();
  const found = await telemetryFinding({ ...database.environment, SPANDREL_TELEMETRY_URL: NOWHERE });
  expect(found).toMatchObject({ level: 'fail', text: expect.stringContaining('that ClickHouse runs') });
  await database.remove();
});

async function telemetryFinding(environment: Readonly<Record<string, string>>) {
  const machine = {
    nowMs: Date.now(),
    openFilesMax: null,
    statfs: () => ({ bavail: 1e9, bsize: 4096 }),
    fsync: () => undefined,
  };
  const findings = await examine(environment, machine as never);
  return findings.find(({ about }) => about === 'telemetry');
}

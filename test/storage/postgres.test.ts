import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { createPostgresPlace } from '../support/place.ts';
import { query } from '../support/postgres-databases.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { storeConformance } from './conformance/store.ts';
import { createTestTime, type Subject } from './conformance/subject.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

async function openPostgres(): Promise<Subject> {
  const place = await createPostgresPlace();
  const time = createTestTime();
  const store = await openStore({ url: place.url, ...options, nowMs: time.nowMs });
  return {
    store,
    bytes: (hex) => `'\\x${hex}'`,
    execute: async (sql) => {
      await query(place.url, sql);
      time.pass();
    },
    dispose: async () => {
      await store.close();
      await place.remove();
    },
  };
}

describe('PostgreSQL', () => {
  storeConformance(openPostgres);

  it('has everything again after it was closed and opened', async () => {
    const place = await createPostgresPlace();
    const append = sampleAppend();
    const first = await openStore({ url: place.url, ...options });
    await first.traces.append(append);
    await first.close();
    const second = await openStore({ url: place.url, ...options });
    expect(await second.traces.find(PROJECT.number, append.traceId)).toMatchObject({ spanCount: 1 });
    await second.close();
    await place.remove();
  });
});

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { unpackEnvelope } from '../../src/storage/engine/sqlite/compact-envelopes.ts';
import { openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from '../support/temp.ts';
import { ORGANIZATION } from './conformance/samples.ts';
import { expectOrder, ROUNDS, reportEverything } from './producers.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };
const EVERYTHING = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };

it('all events of an organization have one order without gaps, from any producer', async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'spandrel.db');
  const store = await openStore({ url: `sqlite:${file}`, ...options });
  await reportEverything([store]);
  const logged = await store.events.list({ ...EVERYTHING, limit: 1000 });
  await store.close();
  const db = new Database(file);
  const rows = db
    .prepare<[], { seq: number; envelope: string }>('SELECT seq, envelope FROM envelopes ORDER BY seq')
    .all()
    .map(({ seq, envelope }) => ({ seq, created: Date.parse(JSON.parse(unpackEnvelope(envelope)).created) }));
  expectOrder(rows);
  expect(rows).toHaveLength(logged.length + ROUNDS + 3);
  expect(db.prepare('SELECT seq FROM log_heads').pluck().all()).toEqual([rows.length]);
  const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM requests WHERE state = 2 AND received_at <= 1`).all();
  expect(JSON.stringify(plan)).toContain('requests_admitted');
  db.close();
  folder.remove();
});

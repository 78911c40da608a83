import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLIENTS, type ClientName } from '../../clients/clients.ts';
import { EXPECTED } from '../../clients/expected.ts';
import { rowOf } from '../../clients/row.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { JSON_TYPE, PROTOBUF, post, readTrace } from './sending.ts';

const FOLDER = new URL('./recorded/', import.meta.url);
const VERSION = /^-\d+\.\d+\.\d+/;
const DAY_MS = 86_400_000;
/** An hour after the newest recording: what clients send is never far in the future. */
const NOW_MS = Date.UTC(2026, 10, 28);

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => NOW_MS });
});
afterAll(() => app.close());

const known = new Set<string>();

/** Those that have come since the last call, oldest first. */
async function newTraces() {
  const body = { pageSize: 100, sortBy: 'started_at', sortDirection: 'asc', startDate: 0, endDate: NOW_MS + DAY_MS };
  const headers = { 'x-auth-token': app.projectKey };
  const found = await callRest(app.address, { verb: 'POST', path: '/api/traces/search', headers, body });
  const ids = found.body.traces.map(({ trace_id: id }: { readonly trace_id: string }) => id);
  const fresh = ids.filter((id: string) => !known.has(id));
  for (const id of fresh) known.add(id);
  return Promise.all(fresh.map((id: string) => readTrace(app, id)));
}

it.each(Object.keys(CLIENTS) as ClientName[])('what %s sent is read as its row of the table says', async (name) => {
  const files = readdirSync(FOLDER).filter((file) => file.startsWith(name) && VERSION.test(file.slice(name.length)));
  expect(files).not.toEqual([]);
  for (const file of files) {
    const headers = file.endsWith('.json') ? JSON_TYPE : PROTOBUF;
    const path = file.includes('-logs.') ? '/v1/logs' : '/v1/traces';
    const { status } = await post(app, path, readFileSync(new URL(file, FOLDER)), headers);
    expect(status).toBe(200);
  }
  expect(rowOf(await newTraces())).toEqual(EXPECTED[name]);
});

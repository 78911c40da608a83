import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import type { TriggerStore } from '../../../src/domain/triggers/trigger-store.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { ignoreDatabaseClock } from '../../support/database-clock.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { type Receiver, startReceiver } from '../endpoints/endpoints-client.ts';
import { ERROR_SHARE } from './triggers-client.ts';

const MINUTE_MS = 60_000;
/** The longest lease of a trigger or of a notification. */
const LEASE_MAX_MS = 2 * MINUTE_MS;

/** What a process has done last before it was killed. */
type Kill = { readonly verb: 'leaseDue' | 'record' | 'claim' | 'handOver' | 'end'; readonly isDone: boolean };

let database: TestDatabase;
let receiver: Receiver;
let nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 10_000;
beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await database.remove();
});

/** From the kill on nothing of this process reaches the database. */
function killing(kill: Kill | null): { wrap: (store: Store) => Store; hasHappened: () => boolean } {
  let isDead = false;
  const wrapVerb = <V extends (...args: never[]) => Promise<unknown>>(name: string, verb: V) =>
    (async (...args: Parameters<V>) => {
      if (isDead) throw new Error('killed');
      if (name !== kill?.verb) return await verb(...args);
      const done = kill.isDone ? await verb(...args) : null;
      // Only work that there is counts.
      if (Array.isArray(done) && done.length === 0) return done;
      isDead = true;
      throw new Error('killed');
    }) as unknown as V;
  return {
    wrap: (store) => ({
      ...ignoreDatabaseClock(store),
      triggers: Object.fromEntries(
        Object.entries(store.triggers).map(([name, verb]) => [name, wrapVerb(name, verb as never)]),
      ) as unknown as TriggerStore,
    }),
    hasHappened: () => isDead,
  };
}

let keys = { projectKey: '', adminKey: '' };
const start = async (kill: Kill | null): Promise<TestApp & { readonly hasHappened: () => boolean }> => {
  const { wrap, hasHappened } = killing(kill);
  const app = await startApp({
    environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' },
    database: { ...database, remove: async () => undefined },
    clock: () => nowMs,
    wrapStore: wrap,
  });
  if (app.projectKey !== '') keys = { projectKey: app.projectKey, adminKey: app.adminKey };
  return { ...app, hasHappened };
};

const ask = async (app: TestApp, verb: string, path: string, body?: unknown): Promise<Body> => {
  const headers = { 'x-auth-token': keys.projectKey };
  return (await callRest(app.address, { verb, path, headers, ...(body === undefined ? {} : { body }) })).body;
};

async function send(app: TestApp, isError: boolean): Promise<void> {
  const timestamps = { started_at: nowMs - 1_000, finished_at: nowMs - 500 };
  const error = isError ? { error: { has_error: true, message: 'broken', stacktrace: [] } } : {};
  const spans = [{ span_id: 'root', type: 'llm', timestamps, ...error }];
  await ask(app, 'POST', '/api/collector', { trace_id: hex(32), spans });
}

/** Starts a process that dies as said in the next minute, and another one after it. */
async function passMinute(id: string, kill: Kill | null): Promise<string> {
  nowMs += MINUTE_MS;
  if (kill !== null) {
    const killed = await start(kill);
    await until(async () => killed.hasHappened());
    await killed.close();
    // Where another process could still be at work, what the killed one has leased waits for the end of its lease.
    if (!killed.store.isSingleProcess) nowMs += LEASE_MAX_MS;
  }
  const app = await start(null);
  try {
    let state: Body;
    await until(async () => {
      ({ state } = await ask(app, 'GET', `/api/triggers/${id}`));
      return Date.parse(state.evaluatedAt ?? '') >= nowMs;
    });
    await until(async () => {
      const { data } = await ask(app, 'GET', `/api/triggers/${id}/history`);
      return data.every(({ delivery }: Body) => delivery !== 'pending');
    });
    return state.status;
  } finally {
    await app.close();
  }
}

const KILLS: readonly Kill[] = [
  { verb: 'leaseDue', isDone: true },
  { verb: 'record', isDone: false },
  { verb: 'record', isDone: true },
  { verb: 'claim', isDone: true },
  { verb: 'handOver', isDone: false },
  { verb: 'handOver', isDone: true },
];

it('a share of errors goes OK, ALERT, OK with exactly two notifications, whatever kills there are in between', async () => {
  const first = await start(null);
  const headers = { authorization: `Bearer ${keys.adminKey}` };
  const endpoint = { url: receiver.url, enabled_events: ['alert.*'] };
  const made = await callRest(first.address, {
    ...{ verb: 'POST', path: '/api/webhooks/v1/endpoints', headers, body: endpoint },
  });
  expect(made.status, made.text).toBe(201);
  let told = 0;
  for (const kill of KILLS) {
    const app = told === 0 ? first : await start(null);
    const { id } = await ask(app, 'POST', '/api/triggers', { ...ERROR_SHARE, name: `${kill.verb} ${kill.isDone}` });
    await send(app, false);
    await app.close();
    const statuses = [await passMinute(id, null)];
    const second = await start(null);
    await send(second, true);
    await second.close();
    statuses.push(await passMinute(id, kill));
    nowMs += 5 * MINUTE_MS;
    const third = await start(null);
    await send(third, false);
    await third.close();
    statuses.push(await passMinute(id, kill.verb === 'leaseDue' ? null : kill));
    expect(statuses, JSON.stringify(kill)).toEqual(['OK', 'ALERT', 'OK']);
    told += 2;
    const last = await start(null);
    const events = () => receiver.received.flatMap(({ body }) => JSON.parse(body).batch as Body[]);
    await until(() => new Set(events().map((event) => event.id)).size === told);
    await ask(last, 'DELETE', `/api/triggers/${id}`);
    await last.close();
    const own = events().filter(({ data }) => data.trigger_id === id);
    expect(
      own.map(({ type }) => type),
      JSON.stringify(kill),
    ).toEqual(['alert.fired', 'alert.resolved']);
  }
}, 240_000);

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actAt, createEnds, type EndsDeps, playGivingBack, playRound } from '../support/credential-ends.ts';
import { llmTrace } from '../support/fixtures.ts';
import { query } from '../support/postgres-databases.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { createTraceSender, type Load, startLoad, type TraceSender } from '../support/trace-sender.ts';
import { walkLog } from '../support/walk-log.ts';

const ORGANIZATION = 'organization-of-the-test';
const ROUNDS_PER_END = isFullTier ? 30 : 2;
const SETTINGS_ROUNDS = isFullTier ? 300 : 10;
const LOAD_CLIENTS = 2;
/** The pause of each client: in the quick tier the load only keeps the caches in use. */
const LOAD_PAUSE_MS = isFullTier ? 0 : 40;

let database: TestDatabase;
let servers: readonly [SpawnedServer, SpawnedServer];
beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { ...database.environment, SPANDREL_BOOTSTRAP_ORGANIZATION_ID: ORGANIZATION };
  servers = [await spawnServer(environment), await spawnServer(environment)];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await database.remove();
});

const COLUMNS = { key: 'expires_at', 'token before': 'previous_secret_until' };

/** The first process handles the changes. */
const deps: EndsDeps = {
  act: (...action) => actAt(servers[0].address, ADMIN_KEY)(...action),
  organizationId: ORGANIZATION,
  nowMs: Date.now,
  approach: () => undefined,
  // The processes use real clocks, so the test moves the expiry instead.
  reach: async ({ keyId, what }) => {
    await query(database.url, `UPDATE api_keys SET ${COLUMNS[what]} = ${Date.now() - 1} WHERE id = '${keyId}'`);
  },
};

/** Sends traces through both processes, so that their caches are in use all the time. */
function startTraces(): { readonly sender: TraceSender; readonly load: Load } {
  const sender = createTraceSender({ addresses: () => servers.map((server) => server.address) });
  const sendNext = async () => {
    await sender.send(llmTrace(Date.now()));
    await delay(LOAD_PAUSE_MS);
  };
  return { sender, load: startLoad(LOAD_CLIENTS, sendNext) };
}

it('K2: a credential that ends in one process is refused by another on the next request', async () => {
  const [a, b] = servers;
  const askers = { address: b.address, restless: [a.address, b.address] };
  const underWay: number[] = [];
  const { sender, load } = startTraces();
  for (const [name, make] of Object.entries(createEnds(deps))) {
    const counts = { requests: 0, stale: 0, early: 0, underWay: 0 };
    for (let round = 0; round < ROUNDS_PER_END; round++) await playRound(await make(), askers, counts);
    const pass = counts.stale === 0;
    report({ id: `K2 elsewhere, ${name}`, seed: 0, n: counts.requests, lost: counts.stale, pass });
    expect(counts.stale, name).toBe(0);
    underWay.push(counts.underWay);
  }
  await load.stop();
  // The credential of the load never ends, so nothing may be refused.
  expect(sender.refusals).toEqual({ cut: 0, unavailable: 0, wrong: [] });
  expect(sender.acknowledged.length).toBeGreaterThan(underWay.length * ROUNDS_PER_END);
  expect(Math.max(...underWay), 'questions under way while the credential ended').toBeGreaterThan(0);
});

it('K2: what is given back in one process works in another on the very next request', async () => {
  await playGivingBack(deps, servers[1].address);
});

it('K2: what a project chooses in one process holds for the very next trace in another', async () => {
  const headers = { 'x-auth-token': PROJECT_KEY };
  const [a, b] = servers;
  const { load } = startTraces();
  const sent: { readonly traceId: string; readonly emits: boolean }[] = [];
  for (let round = 0; round < SETTINGS_ROUNDS; round++) {
    const emits = round % 2 === 1;
    const settings = { verb: 'PATCH', path: '/api/project/settings', body: { emitRequestEvents: emits }, headers };
    expect((await callRest(a.address, settings)).status).toBe(200);
    for (const server of [b, a]) {
      const body = llmTrace(Date.now());
      const answer = await callRest(server.address, { verb: 'POST', path: '/api/collector', body, headers });
      expect(answer.status, answer.text).toBe(200);
      sent.push({ traceId: body.trace_id, emits });
    }
  }
  await load.stop();
  const emitted = new Set((await walkLog({ address: () => b.address })).map((event) => event.data.trace_id));
  const wrong = sent.filter(({ traceId, emits }) => emitted.has(traceId) !== emits).length;
  report({ id: 'K2 settings', seed: 0, n: sent.length, lost: wrong, pass: wrong === 0 });
  expect(wrong).toBe(0);
});

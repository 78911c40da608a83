/** Kills of a server in the middle of the streams that it passes on. */

import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { gatewayKit, MODEL } from '../gateway/gateway-fixture.ts';
import { startMockProvider } from '../support/mock-provider.ts';
import { drawSeed, isFullTier, report, seeded } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { walkLog } from '../support/walk-log.ts';
import { readRows, recompute, spentOf, takeBackLeases } from './budget-kill-cases.ts';

const KILLS = isFullTier ? 10 : 1;
const STREAMS = isFullTier ? 200 : 60;
const SHORT = isFullTier ? 20 : 10;
const PROJECT = 'project-of-the-test';
/** On a busy machine requests in progress are renewed late. */
const GRACE_MS = isFullTier ? 6_000 : 2_000;
const SETTLED_MAX_MS = 60_000;
const KILLED_WITHIN_MS = 400;

type Streamed = { readonly id: string; readonly isWhole: boolean };

export function gatewayKillCases(create: () => Promise<TestDatabase>): void {
  it(`${KILLS} kills in the middle of ${STREAMS} streams break them, and each admitted request ends once`, async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const database = await create();
    const mock = await startMockProvider();
    const servers: SpawnedServer[] = [];
    const environment = {
      ...database.environment,
      SPANDREL_GATEWAY_ALLOW: '127.0.0.1',
      SPANDREL_BOOTSTRAP_PROJECT_ID: PROJECT,
      SPANDREL_SETTLEMENT_GRACE_MS: String(GRACE_MS),
    };
    const start = async () => {
      const server = await spawnServer(environment);
      servers.push(server);
      return server;
    };
    const streamed: Streamed[] = [];
    const refused: string[] = [];
    try {
      let server = await start();
      const kit = gatewayKit(
        { address: server.address, adminKey: ADMIN_KEY, projectKey: PROJECT_KEY, projectId: PROJECT },
        mock,
      );
      // The name of the provider says how it answers.
      const addProvider = (name: string, step: object) =>
        kit.addProvider({
          ...{ name, kind: 'openai_compatible' },
          extra_headers: { 'x-mock-step': JSON.stringify(step) },
        });
      await addProvider('short', { betweenMs: 5 });
      await addProvider('endless', { betweenMs: isFullTier ? 25 : 100, isEndless: true });
      const { secret } = await kit.addKey();
      const scope = { kind: 'project', id: PROJECT };
      await kit.addBudget({ scope, limit_usd: '100', name: 'expected' });
      await kit.addBudget({ scope, limit_usd: '100', name: 'worst', reserve: 'worst' });
      const users = { kind: 'attributed_user', id: PROJECT };
      await kit.addBudget({ scope: users, limit_usd: '100', name: 'of users' });
      for (let kill = 0; kill < KILLS; kill += 1) {
        if (kill > 0) server = await start();
        const { address } = server;
        let begun = 0;
        const open = Array.from({ length: STREAMS }, (_, index) => {
          const model = `${index < SHORT ? 'short' : 'endless'}/${MODEL}`;
          const user = `user ${index % 3}`;
          const onBegin = () => {
            begun += 1;
          };
          return stream({ address, secret, model, user, onBegin, onRefused: (text) => void refused.push(text) });
        });
        // Elsewhere kills also come before some answers begin.
        await until(() => begun + refused.length >= (isFullTier && kill % 2 === 1 ? SHORT : STREAMS));
        expect(refused).toEqual([]);
        // Some outcomes are stored before the kill.
        await open[0];
        await delay(KILLED_WITHIN_MS * random());
        await server.stop('SIGKILL');
        const ends = await Promise.all(open);
        streamed.push(...ends.filter((end) => end !== null));
      }
      // Leases go back, and requests settle, after this long; the leases do so at once here.
      server = await start();
      await until(async () => (await admittedOnly(database)) === 0, SETTLED_MAX_MS);
      const events = await walkLog({ address: () => server.address });
      expect(await server.stop('SIGTERM')).toBe(0);
      await takeBackLeases(database);
      const counts = countEnds(
        streamed,
        events.map(({ id }) => id),
      );
      const rows = await readRows(database, 'SELECT state, nano_usd, charges FROM requests');
      expect(rows.length).toBeGreaterThanOrEqual(streamed.length);
      const buckets = await readRows(database, 'SELECT * FROM budget_buckets');
      expect(spentOf(buckets), `seed ${seed}`).toEqual(recompute(rows));
      expect(buckets.filter(({ leased_nano_usd }) => Number(leased_nano_usd) !== 0)).toEqual([]);
      expect(await readRows(database, 'SELECT 1 FROM budget_leases')).toEqual([]);
      await database.checkIntegrity();
      report({ id: 'gateway-kills', seed, n: rows.length, lost: 0, dup: 0, pass: true });
      // Otherwise the scenario was not what it says.
      expect(counts.whole).toBeGreaterThan(counts.late);
      expect(counts.broken).toBeGreaterThan(0);
      expect(counts.settled).toBeGreaterThan(0);
      expect(counts.completed).toBeGreaterThan(0);
    } finally {
      for (const { child } of servers) child.kill('SIGKILL');
      await mock.close();
      await database.remove();
    }
  });
}

type Asked = {
  readonly address: string;
  readonly secret: string;
  readonly model: string;
  readonly user: string;
  readonly onBegin: () => void;
  readonly onRefused: (text: string) => void;
};

/** Null: no answer began. */
async function stream({ address, secret, model, user, onBegin, onRefused }: Asked): Promise<Streamed | null> {
  const body = { model, user, stream: true, max_tokens: 1000, messages: [{ role: 'user', content: 'Say hello.' }] };
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  const ask = (): Promise<Response | null> =>
    // On a busy machine fetch gives up before it has a connection, which says nothing of the server.
    fetch(`${address}/v1/chat/completions`, sent).catch((error) => (isConnectTimeout(error) ? ask() : null));
  const answer = await ask();
  if (answer === null) return null;
  // A rejection here would not be awaited before the kill.
  if (answer.status !== 200) {
    onRefused(await answer.text());
    return null;
  }
  const id = answer.headers.get('x-langwatch-gateway-request-id') ?? '';
  onBegin();
  const isWhole = await answer.text().then(
    () => true,
    () => false,
  );
  return { id, isWhole };
}

async function admittedOnly(database: TestDatabase): Promise<number> {
  return (await readRows(database, 'SELECT 1 FROM requests WHERE state = 2')).length;
}

/** Every request whose answer began has exactly one end. */
function countEnds(streamed: readonly Streamed[], eventIds: readonly string[]) {
  expect(new Set(eventIds).size, 'events with an id of their own').toBe(eventIds.length);
  const ends = Map.groupBy(eventIds, (id) => id.slice(0, id.indexOf(':')));
  const counts = { whole: 0, broken: 0, settled: 0, completed: 0, late: 0 };
  for (const { id, isWhole } of streamed) {
    const found = ends.get(id) ?? [];
    expect(found.length, `${id}: ${found.join(' ')}`).toBe(1);
    const isSettled = found[0]?.endsWith(':settled') === true;
    // The end of an answer waits for its outcome, but not for ever.
    if (isWhole && isSettled) counts.late += 1;
    counts[isWhole ? 'whole' : 'broken'] += 1;
    counts[isSettled ? 'settled' : 'completed'] += 1;
  }
  return counts;
}

function isConnectTimeout(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === 'UND_ERR_CONNECT_TIMEOUT';
}

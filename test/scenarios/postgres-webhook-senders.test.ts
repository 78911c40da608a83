import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit, expectFlawless } from '../support/delivery-audit.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { createWebhookClient } from '../support/webhook-client.ts';
import { ALLOW_THIS_MACHINE } from '../support/webhook-fixture.ts';

const EVENTS = isFullTier ? 20_000 : 400;
const EVENTS_MAX = 2 * EVENTS + 8_000;
/** On a busy machine the database may answer late. */
const PATIENCE_MS = 30_000;
const LEASE_MS = 30_000;
const IN_FLIGHT_MAX = 4;

let database: TestDatabase;
let receiver: Receiver;
let servers: readonly [SpawnedServer, SpawnedServer];
beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  const environment = { ...database.environment, ...ALLOW_THIS_MACHINE };
  servers = [await spawnServer(environment), await spawnServer(environment)];
});
afterAll(async () => {
  // SIGKILL also ends stopped processes.
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await receiver.close();
  await database.remove();
});

const clientOf = (server: () => SpawnedServer) =>
  createWebhookClient({
    address: () => server().address,
    adminKey: ADMIN_KEY,
    projectKey: PROJECT_KEY,
    patienceMs: PATIENCE_MS,
  });

/** A metric by name. */
async function figure(server: SpawnedServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.address}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const ATTEMPTS = 'spandrel_webhook_attempts_total';

it('W8: two senders share the work of an endpoint, and send nothing twice', async () => {
  let turn = 0;
  const client = clientOf(() => servers[turn % 2 === 0 ? 0 : 1]);
  const shares = () => Promise.all(servers.map((server) => figure(server, ATTEMPTS)));
  receiver.react = () => ({ kind: 'answer', status: 200, delayMs: 5 });
  const { id, secret } = await client.create(receiver.url('/shared'), {
    max_batch_size: 10,
    max_batch_delay_ms: 0,
    max_in_flight: IN_FLIGHT_MAX,
  });
  const others = await Promise.all(
    Array.from({ length: 8 }, (_, index) => client.create(receiver.url(`/other-${index}`), { max_batch_delay_ms: 20 })),
  );
  const ids: string[] = [];
  // One process may send a small backlog alone, so more comes until the other one has its share, too.
  const isShared = async () => Math.min(...(await shares())) > 0;
  for (; ids.length < EVENTS || (ids.length < EVENTS_MAX && !(await isShared())); turn += 1) {
    ids.push(...(await client.report(100)));
  }
  const { replay_id: replayId, matched } = await client.replay(others[0]?.id ?? '', { from: 0, to: 2 ** 45 });
  for (const each of [id, ...others.map((other) => other.id)]) await client.untilIdle(each);
  await until(async () => (await client.replayed(others[0]?.id ?? '', replayId)).status === 'completed');
  expect(receiver.peakOf('/shared')).toBeLessThanOrEqual(IN_FLIGHT_MAX);
  expectFlawless({ pushes: receiver.of('/shared'), subscribed: ids, secrets: [secret] });
  for (const [index, other] of others.entries()) {
    const found = audit({ pushes: receiver.of(`/other-${index}`), subscribed: ids, secrets: [other.secret] });
    expect(found).toMatchObject({ lost: 0, foreign: 0, repeatedBatches: 0, repeatedEvents: index === 0 ? matched : 0 });
  }
  const sent = await shares();
  report({ id: `W8, ${sent.join(' and ')} attempts`, seed: 0, n: ids.length, lost: 0, dup: 0, pass: true });
  expect(Math.min(...sent), 'attempts of the process with fewer').toBeGreaterThan(0);
  for (const each of [id, ...others.map((other) => other.id)]) await client.archive(each);
});

async function judgeStoppedSender(): Promise<void> {
  const [stopped, other] = servers;
  // The process that stores an event is the first to send it.
  let reporting = stopped;
  const client = clientOf(() => reporting);
  // Long enough for all places to fill before the first answer.
  receiver.react = () => ({ kind: 'answer', status: 200, delayMs: 4_000 });
  const paths = Array.from({ length: 12 }, (_, index) => `/stopped-${index}`);
  const options = { max_batch_size: 5, max_batch_delay_ms: 0, max_in_flight: IN_FLIGHT_MAX };
  const endpoints = await Promise.all(paths.map((path) => client.create(receiver.url(path), options)));
  const ids = [...(await client.report(200, 'stopped_'))];
  // Stop it while all places are taken. Nothing is claimed or recorded then, and a process that is stopped in the middle of a
  // commit loses its connection, so it could not even try to record what it did.
  const inFlight = () => Promise.all(servers.map((server) => figure(server, 'spandrel_webhook_in_flight')));
  await until(async () => {
    const [own = 0, others = 0] = await inFlight();
    return own > 0 && own + others === paths.length * IN_FLIGHT_MAX;
  });
  stopped.child.kill('SIGSTOP');
  reporting = other;
  receiver.react = () => ({ kind: 'answer', status: 200, delayMs: 400 });
  await delay(LEASE_MS + 2_000);
  ids.push(...(await client.report(20, 'stopped_')));
  for (const { id } of endpoints) await client.untilIdle(id);
  const before = await Promise.all(endpoints.map(({ id }) => client.attempts(id)));
  stopped.child.kill('SIGCONT');
  await until(async () => (await figure(stopped, 'spandrel_webhook_stale_results_total')) > 0, 30_000);
  const stale = await figure(stopped, 'spandrel_webhook_stale_results_total');
  const after = await Promise.all(endpoints.map(({ id }) => client.attempts(id)));
  expect(after).toEqual(before);
  const lost = before.flat().filter(({ error }) => error === 'sender_lost').length;
  const found = paths.map((path, index) =>
    audit({ pushes: receiver.of(path), subscribed: ids, secrets: [endpoints[index]?.secret ?? ''] }),
  );
  const repeated = found.map(({ repeatedBatches }) => repeatedBatches);
  const dup = repeated.reduce((sum, each) => sum + each, 0);
  report({ id: 'W8 stopped', seed: 0, n: ids.length, lost: 0, dup, ...{ stale, takenOver: lost }, pass: true });
  for (const each of found) expect(each).toMatchObject({ lost: 0, foreign: 0, altered: 0, repeatedEvents: 0 });
  expect(Math.max(...repeated)).toBeLessThanOrEqual(IN_FLIGHT_MAX);
  expect(lost, 'attempts taken over').toBeGreaterThan(0);
  for (const { id } of endpoints) expect(await client.find(id)).toMatchObject({ failing_since: null });
}

// The normal tier cannot wait for the end of a lease.
if (isFullTier) {
  it(
    'W8: what a sender did that was stopped past its lease is not recorded, and everything is delivered',
    judgeStoppedSender,
  );
}

/** Budgets under kills of the processes that spend them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import { amountsOf, bucketName, unpackCharges } from '../../src/domain/budgets/charges.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { requestStatuses } from '../../src/storage/rows/codes.ts';
import { change } from '../storage/conformance/management-samples.ts';
import { quietLog } from '../storage/quiet-log.ts';
import { createProxy, foundTenant, PERIOD_MS, type Tenant } from '../storage/simulated-proxy.ts';
import { query } from '../support/postgres-databases.ts';
import { drawSeed, isFullTier, report, seeded } from '../support/scenario.ts';
import type { TestDatabase } from '../support/test-database.ts';

const KILLS = isFullTier ? 100 : 4;
const RUN_MAX_MS = 250;
const LATE_OUTCOMES = 5;
const SCRIPT = fileURLToPath(new URL('../storage/proxy-process.ts', import.meta.url));
const USD = 1_000_000_000;
const EVENTS_READ = 1000;

const BUDGETS: readonly Partial<Budget>[] = [
  { limitNanoUsd: 100 * USD },
  // It is reset between kills.
  { limitNanoUsd: 100 * USD, reserve: 'expected', window: 'manual' },
  { limitNanoUsd: USD / 1000, onBreach: 'warn' },
  { limitNanoUsd: 100 * USD, scope: { kind: 'attributed_user', id: 'vk_1', of: 'virtual_key' } },
];

/** Of so many outcomes at least one is a correction. */
const CORRECTED_FROM = 300;

/** What killed processes said. */
type Told = { readonly admitted: Set<string>; readonly costs: Map<string, number[]> };

/** `processes`: how many run at once. */
export function budgetKillCases(create: () => Promise<TestDatabase>, processes: 1 | 2): void {
  it(`after ${KILLS} kills under load each admitted request has one outcome or is settled, and budgets add up`, async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const database = await create();
    const told: Told = { admitted: new Set(), costs: new Map() };
    try {
      let tenant = await withStore(database, (store) => foundTenant(store, BUDGETS));
      for (let killed = 0; killed < KILLS; killed += processes) {
        const runs = Array.from({ length: processes }, (_, index) => {
          const processId = `process_${killed + index}`;
          return runAndKill({
            database,
            tenant,
            processId,
            seed: seed + killed + index,
            aliveMs: random() * RUN_MAX_MS,
          });
        });
        for (const lines of await Promise.all(runs)) for (const line of lines) note(told, line);
        tenant = await withStore(database, async (store) => {
          await store.leases.takeBack(-60_000);
          return await resetBudget(store, tenant, PERIOD_MS + killed + 1);
        });
      }
      const found = await withStore(database, async (store) => {
        await store.leases.takeBack(-60_000);
        const settled = await settleAll(store);
        const late = await completeSettled(store, tenant);
        return { settled, late, events: await readEvents(store, tenant) };
      });
      expectOneEnd(told, found.events);
      const rows = await readRows(database, 'SELECT state, nano_usd, charges FROM requests');
      expect(rows.length).toBeGreaterThanOrEqual(told.admitted.size);
      const buckets = await readRows(database, 'SELECT * FROM budget_buckets');
      expect(spentOf(buckets), `seed ${seed}`).toEqual(recompute(rows));
      expect(buckets.filter(({ leased_nano_usd }) => Number(leased_nano_usd) !== 0)).toEqual([]);
      expect(await readRows(database, 'SELECT * FROM budget_leases')).toEqual([]);
      expect(await readRows(database, 'SELECT 1 FROM requests WHERE state = 2')).toEqual([]);
      // Otherwise the scenario was not what it says.
      expect(found.settled).toBeGreaterThan(0);
      expect(found.late).toBe(LATE_OUTCOMES);
      const corrected = [...told.costs.values()].filter((costs) => costs.length > 1).length;
      // A busy machine may have too few outcomes for that.
      if (told.costs.size >= CORRECTED_FROM) expect(corrected).toBeGreaterThan(0);
      report({ id: 'budget-kills', seed, n: rows.length, lost: 0, dup: 0, pass: true });
    } finally {
      await database.remove();
    }
  });
}

async function withStore<T>({ url }: TestDatabase, body: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog, writer: 'here' });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

type Run = {
  readonly database: TestDatabase;
  readonly tenant: Tenant;
  readonly processId: string;
  readonly seed: number;
  /** From the first request on. */
  readonly aliveMs: number;
};

/** The whole lines that the process printed. */
async function runAndKill({ database, tenant, processId, seed, aliveMs }: Run): Promise<readonly string[]> {
  const args = [SCRIPT, database.url, processId, JSON.stringify(tenant), String(seed)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout === null) throw new Error('the process has no output');
  let printed = '';
  child.stdout.on('data', (bytes: Buffer) => {
    printed += bytes.toString('latin1');
  });
  const closed = once(child, 'close');
  await Promise.race([once(createInterface(child.stdout), 'line'), closed]);
  await delay(aliveMs);
  child.kill('SIGKILL');
  const [, signal] = await closed;
  expect(signal, 'how the process ended').toBe('SIGKILL');
  return printed.split('\n').slice(0, -1);
}

function note({ admitted, costs }: Told, line: string): void {
  const [what, id = '', cost] = line.split(' ');
  if (what === 'admitted') admitted.add(id);
  else costs.set(id, [...(costs.get(id) ?? []), Number(cost)]);
}

/** As if what held them had been silent for long. */
export async function takeBackLeases(database: TestDatabase): Promise<void> {
  await withStore(database, async ({ leases }) => {
    while ((await leases.takeBack(-60_000)) > 0);
  });
}

async function resetBudget(store: Store, tenant: Tenant, resetAtMs: number): Promise<Tenant> {
  const budgets = tenant.budgets.map((budget) => (budget.window === 'manual' ? { ...budget, resetAtMs } : budget));
  await change(store, tenant.organizationId, { budgets });
  return { ...tenant, budgets };
}

/** How many requests were settled. */
async function settleAll({ requests }: Store): Promise<number> {
  for (let total = 0; ; ) {
    const { count, hasMore } = await requests.settle({
      kind: 'settlement',
      admittedByMs: Date.now() + 60_000,
      countMax: 500,
    });
    total += count;
    if (!hasMore) return total;
  }
}

/** Outcomes of settled requests, which replace their estimates. */
async function completeSettled(store: Store, tenant: Tenant): Promise<number> {
  const events = await readEvents(store, tenant);
  const completed = new Set(events.flatMap(({ id }) => (id.endsWith(':settled') ? [] : [id.split(':')[0]])));
  const waiting = events.filter(({ id }) => id.endsWith(':settled') && !completed.has(id.split(':')[0]));
  const late = waiting.slice(0, LATE_OUTCOMES);
  const proxy = createProxy(store, tenant, 'last');
  for (const [index, { id }] of late.entries()) await proxy.complete(id.split(':')[0] ?? '', 1000 + index);
  return late.length;
}

type ToldEvent = { readonly id: string; readonly costNanoUsd: number | null };

async function readEvents({ events }: Store, { organizationId, organizationNumber }: Tenant): Promise<ToldEvent[]> {
  const organization = { id: organizationId, number: organizationNumber };
  const found: ToldEvent[] = [];
  let after: Parameters<typeof events.list>[0]['after'] = null;
  for (;;) {
    const range = { organization, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, limit: EVENTS_READ };
    const page = await events.list({ ...range, after });
    found.push(
      ...page.map(({ id, envelope }) => ({ id, costNanoUsd: JSON.parse(envelope).data.cost?.nano_usd ?? null })),
    );
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_READ) return found;
    after = last;
  }
}

/** Each request that was admitted has ended once, and each outcome that was stored is told. */
function expectOneEnd({ admitted, costs }: Told, events: readonly ToldEvent[]): void {
  expect(new Set(events.map(({ id }) => id)).size, 'events with an id of their own').toBe(events.length);
  const byRequest = Map.groupBy(events, ({ id }) => id.slice(0, id.indexOf(':')));
  const unended = [...admitted].filter((id) => !byRequest.has(id));
  expect(unended, 'requests without an end').toEqual([]);
  for (const [id, told] of costs) {
    const ends = (byRequest.get(id) ?? []).filter((event) => !event.id.endsWith(':settled'));
    const emitted = ends.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map((event) => event.costNanoUsd);
    // The process may have been killed before it told the last one.
    expect(emitted.slice(0, told.length), id).toEqual(told);
    expect(emitted.length, id).toBeLessThanOrEqual(2);
  }
}

type Row = { readonly [column: string]: unknown };

export async function readRows({ url }: TestDatabase, sql: string): Promise<readonly Row[]> {
  if (!url.startsWith('sqlite:')) return await query(url, sql);
  const db = new Database(url.slice('sqlite:'.length), { readonly: true });
  try {
    return db.prepare<[], Row>(sql).all();
  } finally {
    db.close();
  }
}

/** What each bucket has spent, as the requests tell. */
export function recompute(requests: readonly Row[]): ReadonlyMap<string, number> {
  const spent = new Map<string, number>();
  for (const { state, nano_usd: cost, charges: text } of requests) {
    const charges = unpackCharges(text === null ? null : typeof text === 'string' ? text : JSON.stringify(text));
    if (charges === null) throw new Error('a request counts nowhere');
    const isSettled = state === requestStatuses.code('settled');
    expect([charges.estimates === null, cost === null]).toEqual([!isSettled, isSettled]);
    if (!isSettled) expect(charges.nanoUsd).toBe(Number(cost));
    for (const [bucket, nanoUsd] of amountsOf(charges)) {
      spent.set(bucketName(bucket), (spent.get(bucketName(bucket)) ?? 0) + nanoUsd);
    }
  }
  return spent;
}

export function spentOf(buckets: readonly Row[]): ReadonlyMap<string, number> {
  const named = buckets.map((row): readonly [string, number] => {
    const { budget_id, period_started_at, subject, spent_nano_usd } = row;
    const key = { budgetId: String(budget_id), periodStartedAtMs: Number(period_started_at), subject: String(subject) };
    return [bucketName(key), Number(spent_nano_usd)];
  });
  return new Map(named.filter(([, spent]) => spent !== 0));
}

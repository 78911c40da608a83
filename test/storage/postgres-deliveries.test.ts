import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { DispatchEndpoint, WorkItem, WorkOutcome } from '../../src/domain/delivery/webhook-store.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { sampleAppend } from './conformance/samples.ts';
import type { Subject } from './conformance/subject.ts';
import {
  batchOf,
  cutOf,
  FAILURE,
  finishOf,
  GONE,
  type Harness,
  LEASE_MS,
  loseOf,
  NOW_MS,
  recordOf,
  SUCCESS,
  takeOf,
  withHarness,
} from './conformance/webhook-harness.ts';
import { quietLog } from './quiet-log.ts';

const AT = { nowMs: NOW_MS, attemptsPerHourMax: null };

/** Two processes on one database. */
type Two = Harness & { readonly url: string; readonly other: Store };

function open(url: string): Promise<Store> {
  return openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });
}

function withTwo(body: (two: Two) => Promise<void>): () => Promise<void> {
  let url = '';
  const openSubject = async (): Promise<Subject> => {
    const database = await createPostgresTestDatabase();
    url = database.url;
    const store = await open(url);
    return {
      store,
      bytes: (hex) => `'\\x${hex}'`,
      execute: async (sql) => void (await query(database.url, sql)),
      read: (sql) => query(database.url, sql),
      dispose: async () => {
        await store.close();
        await database.remove();
      },
    };
  };
  return withHarness(openSubject, async (harness) => {
    const other = await open(url);
    try {
      await body({ ...harness, url, other });
    } finally {
      await other.close();
    }
  });
}

/** Adds `count` waiting deliveries of one event each. */
async function queue(
  harness: Harness,
  endpoint: DispatchEndpoint,
  count: number,
): Promise<readonly { number: number }[]> {
  const entries = await harness.emit(count);
  const batches = entries.map((entry) => batchOf(endpoint, [entry], { disposition: 'wait' }));
  await harness.apply([cutOf(endpoint, batches)]);
  const [due] = await harness.store.deliveries.due([endpoint.number], { nowMs: NOW_MS, perEndpointMax: count });
  return due?.waiting ?? [];
}

function claimsIn(outcomes: readonly WorkOutcome[]) {
  return outcomes.flatMap((outcome) =>
    outcome.kind === 'claimed' && outcome.claimed !== null ? [outcome.claimed] : [],
  );
}

function say(outcome: WorkOutcome): string {
  return outcome.kind === 'refused' ? outcome.reason : outcome.kind;
}

describe('two senders on one PostgreSQL', () => {
  it(
    'claim no delivery twice, and hold the limit of an endpoint together',
    withTwo(async ({ store, other, ...harness }) => {
      const endpoint = await harness.addEndpoint({ maxInFlight: 3 });
      const waiting = await queue({ store, ...harness }, endpoint, 12);
      expect(waiting).toHaveLength(12);
      const take = (sender: Store, some: readonly { number: number }[]) =>
        Promise.all(some.map(({ number }) => sender.deliveries.apply([takeOf(endpoint, { number, fence: 0 })], AT)));
      const rounds = [await Promise.all([take(store, waiting), take(other, waiting.toReversed())])].flat(3);
      const claims = claimsIn(rounds);
      expect(claims).toHaveLength(3);
      expect(new Set(claims.map(({ number }) => number)).size).toBe(3);
      expect(await harness.read(endpoint.id)).toMatchObject({ inFlight: 3 });
      const figures = await other.webhookLog.health(endpoint.number, NOW_MS);
      expect(figures).toMatchObject({ inFlight: 3, queuedEvents: 0 });
    }),
  );

  it(
    'cut every event once when both go through the log at the same time',
    withTwo(async ({ store, other, ...harness }) => {
      const endpoint = await harness.addEndpoint({ maxInFlight: 8 });
      const entries = await harness.emit(20);
      for (const [index, entry] of entries.entries()) {
        const database = { ...endpoint, position: endpoint.position + index };
        const outcomes = await Promise.all(
          [store, other].map((sender) => sender.deliveries.apply([cutOf(database, [batchOf(database, [entry])])], AT)),
        );
        expect(outcomes.flat().map(say).sort()).toEqual(['claimed', 'moved']);
        const [claimed] = claimsIn(outcomes.flat());
        if (claimed === undefined) throw new Error('nothing was claimed');
        await other.deliveries.apply([finishOf(endpoint, claimed, SUCCESS)], AT);
      }
      const attempts = await store.webhooks.attempts(endpoint.number, { after: null, limit: 100 });
      expect(attempts.map(({ eventIds }) => eventIds[0]).sort()).toEqual(entries.map(({ id }) => id).sort());
    }),
  );

  it(
    'a result is void once the other one has taken the delivery over',
    withTwo(async ({ other, ...harness }) => {
      const endpoint = await harness.addEndpoint();
      const first = await harness.send(endpoint, await harness.emit(1));
      const at = { ...AT, nowMs: NOW_MS + LEASE_MS };
      const [due] = await other.deliveries.due([endpoint.number], { nowMs: at.nowMs, perEndpointMax: 1 });
      expect(due?.lost).toEqual([{ number: first.number, fence: first.fence }]);
      const taken = await other.deliveries.apply(
        [loseOf(endpoint, first), takeOf(endpoint, { number: first.number, fence: first.fence + 1 })],
        at,
      );
      const [second] = claimsIn(taken);
      expect(second).toMatchObject({ number: first.number, fence: first.fence + 2, attempt: 2 });
      expect(await harness.finish(endpoint, first, GONE, at.nowMs)).toEqual({ kind: 'stale' });
      expect(await harness.read(endpoint.id)).toMatchObject({ status: 'active', inFlight: 1, lastFailureAtMs: null });
      if (second === undefined) throw new Error('nothing was claimed');
      expect(await harness.finish(endpoint, second, SUCCESS, at.nowMs)).toMatchObject({ outcome: 'success' });
    }),
  );

  it(
    'hold the attempts of an hour together',
    withTwo(async ({ store, other, ...harness }) => {
      const endpoints = [await harness.addEndpoint({ maxInFlight: 8 }), await harness.addEndpoint({ maxInFlight: 8 })];
      const capped = { ...AT, attemptsPerHourMax: 5 };
      const work: WorkItem[] = [];
      for (const endpoint of endpoints) {
        const waiting = await queue({ store, ...harness }, endpoint, 8);
        work.push(...waiting.map(({ number }) => takeOf(endpoint, { number, fence: 0 })));
      }
      const outcomes = await Promise.all(
        work.map((piece, index) => (index % 2 === 0 ? store : other).deliveries.apply([piece], capped)),
      );
      expect(claimsIn(outcomes.flat())).toHaveLength(5);
    }),
  );
});

describe('changes of endpoints by several processes', () => {
  it(
    'are returned once they are committed, and none is missed',
    withTwo(async ({ store, other, url, ...harness }) => {
      const [slow, fast] = [await harness.addEndpoint(), await harness.addEndpoint()];
      const { change } = await other.deliveries.changes(0);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        await client.query('BEGIN');
        await client.query('UPDATE webhook_changes SET number = number + 1');
        await client.query(
          `UPDATE webhook_endpoints SET version = version + 1, change_number = (SELECT number FROM webhook_changes)
           WHERE number = $1`,
          [slow.number],
        );
        let isStored = false;
        const patched = harness.patch(fast.id, { maxInFlight: 8 }).then(() => {
          isStored = true;
        });
        await until(async () => (await countWaiting(url)) > 0);
        // The later change waits, so that no reader sees its number before the earlier one.
        expect(isStored).toBe(false);
        expect(await other.deliveries.changes(change)).toEqual({ change, endpoints: [] });
        await client.query('COMMIT');
        await patched;
      } finally {
        await client.end();
      }
      const changes = await other.deliveries.changes(change);
      expect(changes.change).toBe(change + 2);
      expect(changes.endpoints.map(({ number }) => number).sort()).toEqual([slow.number, fast.number].sort());
      expect(await store.deliveries.changes(changes.change)).toEqual({ change: changes.change, endpoints: [] });
    }),
  );

  it(
    'a disable that comes of a delivery is one of them, and ends what the endpoint gets where the log ends',
    withTwo(async ({ other, ...harness }) => {
      const endpoint = await harness.addEndpoint();
      const [first, , last] = await harness.emit(3);
      if (first === undefined || last === undefined) throw new Error('there are no events');
      const { change } = await other.deliveries.changes(0);
      const claimed = await harness.send(endpoint, [first]);
      expect(await harness.finish(endpoint, claimed, GONE)).toMatchObject({ disabled: 'receiver_gone' });
      const { endpoints } = await other.deliveries.changes(change);
      expect(endpoints).toMatchObject([{ number: endpoint.number, version: endpoint.version + 1, status: 'disabled' }]);
      expect(endpoints[0]?.subscriptions.at(-1)).toEqual({ fromSeq: last.seq + 1, mask: 0 });
    }),
  );

  it(
    'leave alone what authentication remembers',
    withTwo(async ({ url, ...harness }) => {
      const generation = () => query(url, 'SELECT number FROM auth_generation');
      const before = await generation();
      const endpoint = await harness.addEndpoint();
      await harness.patch(endpoint.id, { status: 'disabled' });
      expect(await generation()).toEqual(before);
    }),
  );
});

const ROUNDS = 6;
const AT_ONCE = 20;

describe('many who change the same endpoints', () => {
  it(
    'wait for each other, but never both at once',
    withTwo(async ({ store, other, url, organizationId, organizationNumber, ...harness }) => {
      const senders = [store, other];
      const endpoints: DispatchEndpoint[] = [];
      for (let index = 0; index < 6; index += 1) endpoints.push(await harness.addEndpoint({ maxInFlight: 8 }));
      for (let round = 0; round < ROUNDS; round += 1) {
        const [entry] = await harness.emit(1);
        if (entry === undefined) throw new Error('there is no event');
        const current = (await store.deliveries.changes(0)).endpoints;
        const claims = await Promise.all(
          current.map((endpoint) =>
            store.deliveries.apply([cutOf(endpoint, [batchOf(endpoint, [entry])], { toPosition: entry.seq })], AT),
          ),
        );
        const ends = claims.flatMap((outcomes, index) =>
          claimsIn(outcomes).flatMap((claimed) => {
            const endpoint = current[index];
            const verdict = index === round ? GONE : FAILURE;
            return endpoint === undefined ? [] : [finishOf(endpoint, claimed, verdict)];
          }),
        );
        const batches = Array.from({ length: AT_ONCE }, (_, index) => {
          const sender = senders[index % 2] ?? store;
          return sender.deliveries.apply(index % 3 === 0 ? ends.toReversed() : ends, {
            ...AT,
            attemptsPerHourMax: 9999,
          });
        });
        const patches = current.map(async (endpoint) => {
          // Reads the current version before each commit.
          const expectedVersion = await other.management.version(organizationId);
          const record = { ...recordOf(endpoint), description: `round ${round}` };
          const change = { record, expectedVersion: endpoint.version, clearsStreak: true };
          return await other.management.commit({ organizationId, expectedVersion, audit: [], endpoints: [change] });
        });
        const appends = senders.map((sender) =>
          sender.traces.append(sampleAppend({ organizationId, organizationNumber })),
        );
        const outcomes = (await Promise.all(batches)).flat();
        expect(outcomes.filter(({ kind }) => kind === 'recorded')).toHaveLength(ends.length);
        expect(await Promise.all(patches)).toContain('stored');
        await Promise.all(appends);
      }
      const after = (await store.deliveries.changes(0)).endpoints;
      expect(after.every(({ inFlight }) => inFlight === 0)).toBe(true);
      expect(after.some(({ status }) => status === 'disabled')).toBe(true);
      // Sessions report their statistics when they end.
      await Promise.all(senders.map((sender) => sender.close()));
      await until(async () => (await countSessions(url)) === 0);
      const [{ deadlocks } = { deadlocks: null }] = await query(
        url,
        `SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()`,
      );
      expect(deadlocks).toBe(0);
    }),
  );
});

describe('work whose connection is lost', () => {
  it(
    'fails as unavailable, changes nothing, and may be repeated',
    withTwo(async ({ store, url, ...harness }) => {
      const endpoint = await harness.addEndpoint();
      const work = [cutOf(endpoint, [batchOf(endpoint, await harness.emit(1))])];
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        await client.query('BEGIN');
        await client.query('SELECT FROM webhook_states FOR UPDATE');
        const applied = store.deliveries.apply(work, AT).catch((error: unknown) => error);
        await until(async () => (await countWaiting(url)) > 0);
        await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name LIKE 'spandrel/% delivery' AND wait_event_type = 'Lock'`,
        );
        expect(await applied).toMatchObject({ code: 'unavailable' });
      } finally {
        await client.end();
      }
      expect(await harness.read(endpoint.id)).toMatchObject({ position: endpoint.position, inFlight: 0 });
      expect(claimsIn(await store.deliveries.apply(work, AT))).toHaveLength(1);
    }),
  );

  it(
    'is not taken for lost when the work itself is at fault',
    withTwo(async ({ store, ...harness }) => {
      const endpoint = await harness.addEndpoint();
      const [one, two] = await harness.emit(2);
      if (one === undefined || two === undefined) throw new Error('there are no events');
      const first = batchOf(endpoint, [one], { disposition: 'wait' });
      const second = batchOf(endpoint, [two], { disposition: 'wait', dispatchId: first.dispatchId });
      const failed = store.deliveries.apply([cutOf(endpoint, [first, second])], AT);
      await expect(failed).rejects.toMatchObject({ code: '23505' });
      expect(await harness.read(endpoint.id)).toMatchObject({ position: endpoint.position });
    }),
  );
});

describe('housekeeping by two processes', () => {
  it(
    'removes everything past its term once, in any order of processes',
    withTwo(async ({ store, other, url, ...harness }) => {
      const endpoint = await harness.addEndpoint({ maxInFlight: 8 });
      for (const { number } of await queue({ store, ...harness }, endpoint, 30)) {
        const [claimed] = claimsIn(await harness.apply([takeOf(endpoint, { number, fence: 0 })]));
        if (claimed !== undefined) await harness.finish(endpoint, claimed, SUCCESS);
      }
      const later = NOW_MS + 31 * 86_400_000;
      const question = { nowMs: later, endedBeforeMs: later - 1, eventsBeforeMs: 0, rowsMax: 7 };
      const walk = async (walker: Store) => {
        for (let steps = 0; (await walker.deliveries.maintain(question)).more; steps += 1) {
          if (steps > 100) throw new Error('the walk does not end');
        }
      };
      await Promise.all([walk(store), walk(other)]);
      await walk(store);
      const [left] = await query(
        url,
        `SELECT (SELECT count(*) FROM webhook_deliveries)::integer AS deliveries,
           (SELECT count(*) FROM webhook_attempts)::integer AS attempts,
           (SELECT count(*) FROM webhook_figures)::integer AS figures`,
      );
      expect(left).toEqual({ deliveries: 0, attempts: 0, figures: 0 });
    }),
  );

  it(
    'leaves an endpoint to those who have it at the moment',
    withTwo(async ({ store, url, ...harness }) => {
      const endpoint = await harness.addEndpoint();
      const claimed = await harness.send(endpoint, await harness.emit(1));
      await harness.finish(endpoint, claimed, FAILURE);
      await query(url, 'UPDATE webhook_deliveries SET ended_at = 1, status = 4');
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const later = NOW_MS + 100 * 3_600_000;
      const question = { nowMs: later, endedBeforeMs: 0, eventsBeforeMs: 0, rowsMax: 100 };
      try {
        await client.query('BEGIN');
        await client.query('SELECT FROM webhook_states FOR UPDATE');
        expect(await store.deliveries.maintain(question)).toEqual({ more: true, disabled: [], expired: 0 });
        expect(await store.deliveries.maintain(question)).toEqual({ more: false, disabled: [], expired: 0 });
      } finally {
        await client.end();
      }
      expect(await store.deliveries.maintain(question)).toEqual({ more: true, disabled: [endpoint.id], expired: 0 });
    }),
  );
});

describe('the log of an organization', () => {
  it(
    'is read in its own order across months, from wherever',
    withTwo(async ({ store, url, organizationNumber }) => {
      const months = [676, 677, 679];
      await query(url, months.map((month) => `SELECT create_month(${month})`).join(';'));
      const rows = Array.from({ length: 12 }, (_, index) => {
        const createdAtMs = Date.UTC(1970, months[Math.floor(index / 4)] ?? 0, 3) + index;
        const id = `event-${index + 1}`;
        const head = JSON.stringify({ id, type: 'gateway.request.settled', created: new Date(createdAtMs) });
        return `(${organizationNumber}, ${createdAtMs}, '${id}', 1, ${index + 1}, '${head}')`;
      });
      await query(url, `INSERT INTO events VALUES ${rows.toReversed().join(', ')}`);
      const read = async (afterSeq: number, limit = 100) =>
        (await store.deliveries.events(organizationNumber, { afterSeq, limit })).map(({ seq }) => seq);
      const all = Array.from({ length: 12 }, (_, index) => index + 1);
      expect(await read(0)).toEqual(all);
      for (const from of [10, 3, 7, 0, 11, 12]) expect(await read(from)).toEqual(all.slice(from));
      expect(await read(2, 4)).toEqual([3, 4, 5, 6]);
      const span = { firstMs: Date.UTC(1970, 676, 3), lastMs: Date.UTC(1970, 677, 4) };
      const found = await store.deliveries.envelopes(organizationNumber, [2, 5, 99], span);
      expect(found.map(({ id }) => id)).toEqual(['event-2', 'event-5']);
    }),
  );
});

async function countSessions(url: string): Promise<number> {
  const [{ sessions } = { sessions: 0 }] = await query(
    url,
    `SELECT count(*)::integer AS sessions FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'spandrel%'`,
  );
  return sessions;
}

async function countWaiting(url: string): Promise<number> {
  const [{ waiting } = { waiting: 0 }] = await query(
    url,
    `SELECT count(*)::integer AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting;
}

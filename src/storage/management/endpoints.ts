/** What management reads of webhooks: replays, deliveries, attempts and figures of an endpoint. */

import { sql } from 'kysely';
import type { DeliveryStatus, ReplayStatus } from '../../domain/delivery/delivery.ts';
import type { DescendingPage, WebhookStore } from '../../domain/delivery/webhook-store.ts';
import { WebhookEndpoint, WebhookReplay } from '../entities/endpoints.ts';
import type { EntityManager } from '../mapper.ts';
import { columns } from '../plain-queries.ts';
import type { Db } from '../queries.ts';
import { deliveryStatuses, replayStatuses } from '../rows/codes.ts';
import { kyselyOf, plain, type Units } from './units.ts';

type Served =
  | 'countEndpoints'
  | 'replay'
  | 'countUnfinishedReplays'
  | 'attempts'
  | 'attemptsOf'
  | 'delivery'
  | 'deadLetters';

/** The deliveries and attempts of an endpoint, all without tests. */
export type Figures = {
  readonly isActive: boolean;
  readonly oldestAtMs: number | null;
  readonly dead: number;
  readonly finished: number;
  readonly succeeded: number;
  /** Newest first. */
  readonly latenciesMs: readonly number[];
  /** Those that have not ended. */
  readonly unfinished: readonly { readonly status: DeliveryStatus; readonly count: number }[];
};

/** From a bucket on, and the newest attempts between two instants. */
export type Hour = {
  readonly bucket: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly limit: number;
};

export type WebhookRoom = Pick<WebhookStore, Served> & {
  figures(endpointNumber: number, hour: Hour): Promise<Figures>;
};

const AFTER_ALL = { atMs: Number.MAX_SAFE_INTEGER, id: '' };

// As literals in the SQL, because the stores use partial indexes by status, and by tests, only then.
export const RUNNING = sql<ReplayStatus>`${sql.lit(replayStatuses.code('running'))}`;
const DEAD = sql<DeliveryStatus>`${sql.lit(deliveryStatuses.code('dead'))}`;
const NO = sql.lit(false);

export function createWebhookRoom({ read }: Pick<Units, 'read'>): WebhookRoom {
  return {
    countEndpoints: (organizationId) => read((em) => em.count(WebhookEndpoint, { organizationId, archivedAtMs: null })),
    replay: (endpointNumber, id) =>
      read(async (em) => {
        const found = await em.findOne(WebhookReplay, { endpointNumber, id });
        return found && plain(found, 'number', 'mask', 'position', 'toSeq');
      }),
    countUnfinishedReplays: (endpointNumber) =>
      read(async (em) => {
        const { count } = await kyselyOf(em)
          .selectFrom('WebhookReplay')
          .where('endpointNumber', '=', endpointNumber)
          .where('status', '=', RUNNING)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow();
        return count;
      }),
    attempts: (endpointNumber, page) => read((em) => listAttempts(em, endpointNumber, page)),
    attemptsOf: (endpointNumber, dispatchId, limit) =>
      read((em) =>
        kyselyOf(em)
          .selectFrom('WebhookDelivery as delivery')
          .crossJoin('WebhookAttempt as attempt')
          .whereRef('attempt.deliveryNumber', '=', 'delivery.number')
          .where('delivery.endpointNumber', '=', endpointNumber)
          .where('delivery.dispatchId', '=', dispatchId)
          .select(ATTEMPT)
          .orderBy('attempt.attempt', 'desc')
          .limit(limit)
          .execute(),
      ),
    delivery: (endpointNumber, dispatchId) =>
      read(async (em) => {
        const rows = deliveriesOf(em, endpointNumber).where('dispatchId', '=', dispatchId);
        return (await withReplays(em, await rows.execute()))[0] ?? null;
      }),
    deadLetters: (endpointNumber, page) => read((em) => listDead(em, endpointNumber, page)),
    figures: (endpointNumber, hour) => read((em) => readFigures(em, endpointNumber, hour)),
  };
}

/** Newest first by (fired, id). */
function listAttempts(em: EntityManager, endpointNumber: number, { after, limit }: DescendingPage) {
  const { atMs, id } = after ?? AFTER_ALL;
  return (
    kyselyOf(em)
      .selectFrom('WebhookAttempt as attempt')
      // A cross join keeps the order of the tables, so that the store starts with the attempts, whose index has this
      // order.
      .crossJoin('WebhookDelivery as delivery')
      .whereRef('delivery.number', '=', 'attempt.deliveryNumber')
      .where('attempt.endpointNumber', '=', endpointNumber)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('attempt.firedAtMs', 'attempt.id'), '<', tuple(atMs, id)))
      .select(ATTEMPT)
      .orderBy('attempt.firedAtMs', 'desc')
      .orderBy('attempt.id', 'desc')
      .limit(limit)
      .execute()
  );
}

/** Without tests, newest first by (ended, dispatch id). */
async function listDead(em: EntityManager, endpointNumber: number, { after, limit }: DescendingPage) {
  const { atMs, id } = after ?? AFTER_ALL;
  const rows = deliveriesOf(em, endpointNumber)
    .where('status', '=', DEAD)
    .where('test', '=', NO)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('endedAtMs', 'dispatchId'), '<', tuple(atMs, id)))
    .orderBy('endedAtMs', 'desc')
    .orderBy('dispatchId', 'desc')
    .limit(limit);
  return await withReplays(em, await rows.execute());
}

// Columns of both tables that have the same name are of the same kind.
const ATTEMPT = [
  ...columns('attempt', 'id', 'attempt', 'outcome', 'responseStatus', 'latencyMs', 'error', 'firedAtMs'),
  ...columns('attempt', 'responseBody', 'test', 'terminalHint'),
  ...columns('delivery', 'dispatchId', 'eventIds'),
];

function deliveriesOf(em: EntityManager, endpointNumber: number) {
  return kyselyOf(em)
    .selectFrom('WebhookDelivery as delivery')
    .where('endpointNumber', '=', endpointNumber)
    .select(columns('delivery', 'number', 'endpointNumber', 'dispatchId', 'status', 'run', 'attempt', 'failures'))
    .select(columns('delivery', 'lost', 'fence', 'dueAtMs', 'backoffStartedAtMs', 'createdAtMs', 'firstAttemptAtMs'))
    .select(columns('delivery', 'lastAttemptAtMs', 'endedAtMs', 'deadReason', 'terminalHint', 'responseStatus'))
    .select(columns('delivery', 'error', 'test', 'eventsFromMs', 'eventIds', 'replayNumber'));
}

/** Names the replays of deliveries by their ids. In a query of its own: both tables have a status. */
async function withReplays<Row extends { readonly replayNumber: number | null }>(
  em: EntityManager,
  rows: readonly Row[],
) {
  const numbers = [...new Set(rows.flatMap(({ replayNumber }) => replayNumber ?? []))];
  const replays =
    numbers.length === 0 ? [] : await em.find(WebhookReplay, { number: { $in: numbers } }, { fields: ['id'] });
  const ids = new Map(replays.map(({ number, id }) => [number, id]));
  return rows.map(({ replayNumber, ...row }) => ({ ...row, replayId: ids.get(replayNumber ?? -1) ?? null }));
}

async function readFigures(em: EntityManager, endpointNumber: number, hour: Hour): Promise<Figures> {
  const db = kyselyOf(em);
  const endpoint = await em.findOne(WebhookEndpoint, { number: endpointNumber }, { fields: ['status'] });
  const unfinished = ofNoTests(db, endpointNumber).where('endedAtMs', 'is', null);
  const oldest = await unfinished
    .select(({ fn }) => fn.min<number | null>('queuedAtMs').as('atMs'))
    .executeTakeFirstOrThrow();
  const byStatus = await unfinished
    .select('status')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy('status')
    .execute();
  const dead = await ofNoTests(db, endpointNumber)
    .where('status', '=', DEAD)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const ended = await db
    .selectFrom('WebhookFigure')
    .where('endpointNumber', '=', endpointNumber)
    .where('bucket', '>=', hour.bucket)
    .select(({ fn }) => [fn.sum<number | null>('finished').as('finished')])
    .select(({ fn }) => [fn.sum<number | null>('succeeded').as('succeeded')])
    .executeTakeFirstOrThrow();
  return {
    isActive: endpoint?.status === 'active',
    oldestAtMs: oldest.atMs,
    dead: dead.count,
    finished: ended.finished ?? 0,
    succeeded: ended.succeeded ?? 0,
    latenciesMs: (await listLatencies(db, endpointNumber, hour)).flatMap(({ latencyMs }) => latencyMs ?? []),
    unfinished: byStatus,
  };
}

function listLatencies(db: Db, endpointNumber: number, { sinceMs, untilMs, limit }: Hour) {
  return db
    .selectFrom('WebhookAttempt')
    .where('endpointNumber', '=', endpointNumber)
    .where('firedAtMs', '>=', sinceMs)
    .where('firedAtMs', '<=', untilMs)
    .where('latencyMs', 'is not', null)
    .where('test', '=', NO)
    .select('latencyMs')
    .orderBy('firedAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

function ofNoTests(db: Db, endpointNumber: number) {
  return db.selectFrom('WebhookDelivery').where('endpointNumber', '=', endpointNumber).where('test', '=', NO);
}

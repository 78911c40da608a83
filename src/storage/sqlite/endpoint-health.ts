/** How an endpoint fares right now. */

import type { EndpointFigures, WebhookStore } from '../../domain/webhook-store.ts';
import { BUCKET_MS, HOUR_MS } from '../delivery/tables.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';
import { prepareEventCount } from './event-count.ts';
import { prepareOutbox } from './outbox.ts';
import type { ReadLane } from './read-lane.ts';

export type HealthReader = Pick<WebhookStore, 'health' | 'matchEvents'>;

const LATENCIES_MAX = 500;

export function prepareHealthReader(db: Database, lane: ReadLane): HealthReader {
  const statements = prepareStatements(db);
  const countEvents = prepareEventCount(db, lane);
  const outboxes = prepareOutbox(db, lane, countEvents);

  const readFigures = db.transaction((endpointNumber: number, nowMs: number) => {
    const sinceMs = nowMs - HOUR_MS;
    const sent = statements.figures.get(endpointNumber, Math.floor(sinceMs / BUCKET_MS));
    return {
      ...statesOf(statements.states.all(endpointNumber), statements.isActive.get(endpointNumber) === 1),
      oldestAtMs: statements.oldest.get(endpointNumber) ?? null,
      dead: statements.dead.get(endpointNumber) ?? 0,
      finished: sent?.finished ?? 0,
      succeeded: sent?.succeeded ?? 0,
      latenciesMs: statements.latencies.all(endpointNumber, sinceMs, LATENCIES_MAX),
      inFlight: statements.inFlight.get(endpointNumber) ?? 0,
    };
  });

  return {
    async health(endpointNumber, nowMs): Promise<EndpointFigures> {
      // First: what leaves the outbox meanwhile is in a delivery when those are looked at.
      const outbox = await outboxes.count(endpointNumber);
      const { oldestAtMs, ...figures } = await lane(() => readFigures(endpointNumber, nowMs));
      const oldest = [outbox.oldestAtMs, oldestAtMs].filter((atMs) => atMs !== null);
      const oldestUndeliveredAtMs = oldest.length === 0 ? null : Math.min(...oldest);
      return { ...figures, oldestUndeliveredAtMs, queuedEvents: outbox.events };
    },
    async matchEvents(organizationNumber, { fromMs, toMs, sinceMs, mask }) {
      // What is appended while it is counted is not meant.
      const toSeq = await lane(() => statements.head.get(organizationNumber) ?? 0);
      const part = { organizationNumber, fromMs: Math.max(fromMs, sinceMs), toMs, fromSeq: 1, toSeq };
      const { matched, firstSeq, lastSeq } = await countEvents(part, mask);
      return { fromSeq: firstSeq ?? 1, toSeq: lastSeq ?? 0, matched };
    },
  };
}

function statesOf(rows: readonly { readonly status: number; readonly count: number }[], isActive: boolean) {
  const count = (word: 'queued' | 'retrying') =>
    rows.find(({ status }) => status === deliveryStatuses.code(word))?.count ?? 0;
  return isActive
    ? { retrying: count('retrying'), held: 0 }
    : { retrying: 0, held: count('queued') + count('retrying') };
}

function prepareStatements(db: Database) {
  const unended = 'FROM webhook_deliveries WHERE endpoint_number = ? AND ended_at IS NULL AND test = false';
  const number = (sql: string) => db.prepare<number[], number>(sql).pluck();
  return {
    head: number('SELECT seq FROM log_heads WHERE organization_number = ?'),
    isActive: number(`SELECT status = 'active' FROM webhook_endpoints WHERE number = ?`),
    inFlight: number('SELECT in_flight FROM webhook_states WHERE endpoint_number = ?'),
    oldest: number(`SELECT min(queued_at) ${unended}`),
    states: db.prepare<[number], { status: number; count: number }>(
      `SELECT status, count(*) AS count ${unended} GROUP BY status`,
    ),
    dead: number(
      `SELECT count(*) FROM webhook_deliveries
       WHERE endpoint_number = ? AND status = ${deliveryStatuses.code('dead')} AND test = false`,
    ),
    figures: db.prepare<[number, number], { finished: number | null; succeeded: number | null }>(
      `SELECT sum(finished) AS finished, sum(succeeded) AS succeeded FROM webhook_figures
       WHERE endpoint_number = ? AND bucket >= ?`,
    ),
    latencies: number(
      `SELECT latency_ms FROM webhook_attempts
       WHERE endpoint_number = ? AND fired_at >= ? AND latency_ms IS NOT NULL AND test = false
       ORDER BY fired_at DESC, id DESC LIMIT ?`,
    ),
  };
}

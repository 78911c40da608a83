/** Implements DeliveryStore on the queries of a store. */

import type { DeliveryStore, DueList, LogEntry, LogRange } from '../../domain/delivery/webhook-store.ts';
import type { Subscription } from '../../domain/endpoints/endpoint.ts';
import { readEnvelopeHead } from '../../domain/events/request-event.ts';
import type { DeliveryWork } from '../delivery/work.ts';
import { deliveryStatuses } from '../rows/codes.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries, RunQuery } from '../transaction.ts';
import { createCounts, createOutboxes, findLeast, inBatches } from './outboxes.ts';
import { unpackEndpoint, type WebhookLogDeps } from './webhook-store.ts';

export type DeliveryStoreDeps = Pick<WebhookLogDeps, 'queries' | 'runQuery' | 'search'> &
  Pick<DeliveryStore, 'nowMs' | 'isSingleProcess'> & {
    /** Notifies listeners of new events and changes. */
    readonly wake: Pick<DeliveryStore, 'listen'> & { notify(): void };
    readonly work: Pick<DeliveryWork, 'applyWork' | 'maintainDeliveries'>;
    /** Runs the queries of metrics where dispatchers do not wait for them. */
    readonly runBackgroundQuery: RunQuery;
    /** The row limit of a maintenance step, so that other writes do not wait long. */
    readonly maintainedRowsMax: number;
  };

type Found = RowOf<Queries['endpointsDue']['listDue']>;

const SENDING = deliveryStatuses.code('sending');
const NOTHING: Omit<DueList, 'endpointNumber'> = { waiting: [], lost: [], nextAtMs: null };

/** `dropCaches` drops what is cached of the log, because a new connection may lead to a database that was restored. */
export function createDeliveryStore(deps: DeliveryStoreDeps): DeliveryStore & { dropCaches(): void } {
  const { queries, runQuery, runBackgroundQuery, search, wake, work, maintainedRowsMax, nowMs, isSingleProcess } = deps;
  // This round of maintenance continues after this endpoint; null: all endpoints are done.
  let afterEndpoint: number | null = 0;
  let connections = 0;
  const { dropCaches, ...log } = createLogReader(queries, runQuery);
  return {
    nowMs,
    isSingleProcess,
    listen: wake.listen,
    ...log,
    connections: () => connections,
    dropCaches() {
      connections += 1;
      dropCaches();
    },
    changes: createChanges(queries, runQuery),
    due: createDueLists(queries, runQuery),
    counts: createCounts(queries, runBackgroundQuery, createOutboxes(queries, runBackgroundQuery, search)),
    async apply(pieces, at) {
      if (pieces.length === 0) return [];
      const outcomes = await work.applyWork(pieces, at);
      if (outcomes.some((outcome) => outcome.kind === 'recorded' && outcome.disabled !== null)) wake.notify();
      return outcomes;
    },
    async maintain(query) {
      const rowsMax = Math.min(query.rowsMax, maintainedRowsMax);
      const step = { query: { ...query, rowsMax }, afterEndpoint };
      const { next, isOver, disabled, expired } = await work.maintainDeliveries(step);
      afterEndpoint = next;
      if (disabled.length > 0) wake.notify();
      return { more: !isOver, disabled, expired };
    },
  };
}

function createChanges({ endpoints: queries }: Queries, runQuery: RunQuery): DeliveryStore['changes'] {
  return async (afterChange) => {
    // Read first: changes commit in the order of their numbers, so the rows include all up to this one. Later changes
    // have higher numbers and are read again.
    const [{ change } = { change: 0 }] = await runQuery(queries.findChange, {});
    if (change <= afterChange) return { change, endpoints: [] };
    const rows = await runQuery(afterChange === 0 ? queries.listLive : queries.listChanged, { afterChange });
    const replays = Map.groupBy(
      await runQuery(queries.listRunningReplays, { afterChange }),
      ({ endpointNumber }) => endpointNumber,
    );
    const endpoints = rows.map(({ subscriptionsJson, ...row }) => ({
      ...unpackEndpoint(row),
      subscriptions: JSON.parse(subscriptionsJson) as Subscription[],
      replays: (replays.get(row.number) ?? []).map(({ endpointNumber: _, ...replay }) => replay),
    }));
    return { change, endpoints };
  };
}

function createDueLists({ endpointsDue }: Queries, runQuery: RunQuery): DeliveryStore['due'] {
  return async (endpointNumbers, query) => {
    const parts = await inBatches(endpointNumbers, (numbers) => runQuery(endpointsDue.listDue, { numbers, ...query }));
    const lists = new Map(parts.flat().map((row) => [row.endpointNumber, toList(row, query.nowMs)]));
    const { perEndpointMax } = query;
    return endpointNumbers.map((endpointNumber) => {
      const { waiting, lost, nextAtMs } = lists.get(endpointNumber) ?? NOTHING;
      return { endpointNumber, waiting: waiting.slice(0, perEndpointMax), lost, nextAtMs };
    });
  };
}

function toList({ found, run: currentRun }: Found, nowMs: number): Omit<DueList, 'endpointNumber'> {
  const inOrder = found.toSorted((one, other) => one.dueAtMs - other.dueAtMs || one.number - other.number);
  const sending = inOrder.filter(({ status }) => status === SENDING);
  const waiting = inOrder.filter(({ status }) => status !== SENDING);
  const isDue = ({ run, dueAtMs }: Found['found'][number]) => run < currentRun || dueAtMs <= nowMs;
  const isLost = ({ dueAtMs }: Found['found'][number]) => dueAtMs <= nowMs;
  const next = [...sending.filter((row) => !isLost(row)), ...waiting.filter((row) => !isDue(row))];
  return {
    waiting: waiting
      .filter(isDue)
      .map(({ number, fence, replayNumber }) => ({ number, fence, isReplay: replayNumber !== null })),
    lost: sending.filter(isLost).map(({ number, fence }) => ({ number, fence })),
    nextAtMs: findLeast(next.map(({ dueAtMs }) => dueAtMs)),
  };
}

type LogReader = Pick<DeliveryStore, 'heads' | 'events' | 'envelopes'> & {
  /** Clears the cache, because the database may be another one. */
  dropCaches(): void;
};

/** An entry of a log and its creation time. */
type Mark = Pick<LogEntry, 'seq' | 'createdAtMs'>;

// Dropping an organization only costs a read of every month.
const MARKS_MAX = 10_000;

function createLogReader({ endpointsWork }: Queries, runQuery: RunQuery): LogReader {
  /** Entries after a mark were created no earlier, unless the clock was set back between them. */
  const marks = new Map<number, Mark>();

  function remember(organizationNumber: number, { seq, createdAtMs }: Mark): void {
    // Most reads are near the end of the log, so only marks further on are kept.
    if (seq <= (marks.get(organizationNumber)?.seq ?? 0)) return;
    marks.delete(organizationNumber);
    marks.set(organizationNumber, { seq, createdAtMs });
    const [oldest] = marks.keys();
    if (marks.size > MARKS_MAX && oldest !== undefined) marks.delete(oldest);
  }

  return {
    heads: async (numbers) => (numbers.length === 0 ? [] : runQuery(endpointsWork.listHeads, { numbers })),
    async events(organizationNumber, range) {
      const mark = marks.get(organizationNumber);
      const firstMs = mark !== undefined && mark.seq <= range.afterSeq ? mark.createdAtMs : 0;
      const list = async (fromMs: number) =>
        await runQuery(endpointsWork.listEntries, { organizationNumber, firstMs: fromMs, ...range });
      let entries = (await list(firstMs)).map(toEntry);
      if (firstMs > 0 && !isGapless(entries, range)) {
        marks.delete(organizationNumber);
        entries = (await list(0)).map(toEntry);
      }
      // The first entry and not the last, because the same range may be read again.
      const [first] = entries;
      if (first !== undefined) remember(organizationNumber, first);
      return entries;
    },
    envelopes: async (organizationNumber, seqs, within) =>
      (await runQuery(endpointsWork.listEnvelopes, { organizationNumber, seqs, ...within })).map(toEntry),
    dropCaches: () => marks.clear(),
  };
}

/** Whether no entry between the position and the end of the page is missing. */
function isGapless(entries: readonly LogEntry[], { afterSeq, limit }: LogRange): boolean {
  return entries.length === limit && entries.at(-1)?.seq === afterSeq + limit;
}

function toEntry({ seq, envelope }: Pick<LogEntry, 'seq' | 'envelope'>): LogEntry {
  return { seq, ...readEnvelopeHead(envelope), envelope };
}

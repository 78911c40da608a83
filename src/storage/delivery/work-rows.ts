/** Loads the rows that work items need at the start of their transaction, and writes the changed rows at its end. */

import type { Verdict } from '../../domain/delivery/delivery.ts';
import type { DeliveryRow, EndpointRow } from '../../domain/delivery/delivery-rows.ts';
import { endOfTest } from '../../domain/delivery/delivery-test.ts';
import { hourOf } from '../../domain/delivery/delivery-work.ts';
import type { LoadedRows, RowsRead } from '../../domain/delivery/loaded-rows.ts';
import type { ApplyOptions, WorkItem } from '../../domain/delivery/webhook-store.ts';
import type { Subscription } from '../../domain/endpoints/endpoint.ts';
import { changeSubscriptions, dropPassed } from '../../domain/endpoints/subscriptions.ts';
import { NO_EVENTS } from '../../domain/events/event-type.ts';
import { WebhookEndpoint } from '../entities/endpoints.ts';
import type { Transaction } from '../transaction.ts';

/** The keys of the rows that a transaction reads and locks. */
export type RowKeys = {
  readonly endpoints: readonly number[];
  readonly deliveries: readonly number[];
  /** Those of the deliveries whose content is needed too. */
  readonly claimed: readonly number[];
  /** In addition to the replays of the deliveries. */
  readonly replays: readonly number[];
  /** Ids of new deliveries that are looked up, because they may exist. */
  readonly newIds: readonly DispatchKey[];
  /** The most deliveries that may be created. */
  readonly batches: number;
  /** The hour in which attempts are counted; null: they are not. */
  readonly hour: number | null;
};

type DispatchKey = Pick<DeliveryRow, 'endpointNumber' | 'dispatchId'>;

/**
 * Loads the rows and locks the endpoints, so that no other transaction changes them. `lockAvailableStates` leaves out
 * endpoints that another transaction has locked.
 */
export async function loadWork(
  { isSingleProcess, runQuery, queryByNumbers, changeRows, queries }: Transaction,
  names: RowKeys & { readonly lock: 'lockStates' | 'lockAvailableStates' },
): Promise<RowsRead> {
  const [locked, known, deliveries, contents, blocks, ...taken] = await Promise.all([
    isSingleProcess ? null : queryByNumbers(queries.endpointsWork[names.lock], names.endpoints),
    queryByNumbers(queries.endpointsWork.listEndpointRows, names.endpoints),
    queryByNumbers(queries.endpointsWork.listDeliveryRows, names.deliveries),
    queryByNumbers(queries.endpointsWork.listContents, names.claimed),
    names.batches === 0 ? [] : runQuery(queries.endpointsWork.drawDeliveryNumbers, { count: names.batches }),
    ...names.newIds.map((key) => runQuery(queries.endpointsWork.findDispatchId, key)),
  ]);
  const lockedNumbers = locked === null ? null : new Set(locked.map(({ number }) => number));
  const endpoints = lockedNumbers === null ? known : known.filter(({ number }) => lockedNumbers.has(number));
  const replays = new Set([...names.replays, ...deliveries.flatMap(({ replayNumber }) => replayNumber ?? [])]);
  return {
    endpoints,
    deliveries,
    replays: await queryByNumbers(queries.endpointsWork.listReplayRows, [...replays]),
    contents: new Map(
      contents.map(({ number, seqs, kept, ...created }) => [number, { seqs, created, isKept: kept === seqs.length }]),
    ),
    attempts: names.hour === null ? new Map() : await loadAttempts(names.hour),
    dispatchIds: taken.flat().map(({ dispatchId }) => dispatchId),
    numbers: blocks.flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index)),
  };

  async function loadAttempts(hour: number): Promise<ReadonlyMap<number, number>> {
    const inOrder = organizationsOf(endpoints);
    // Adding zero creates missing rows, because only existing rows can be locked.
    changeRows(
      queries.endpointsChanges.addHours,
      inOrder.map((organizationNumber) => ({ organizationNumber, hour, attempts: 0 })),
    );
    const rows = await runQuery(queries.endpointsWork.listHours, { numbers: inOrder, hour });
    return new Map(rows.map(({ organizationNumber, attempts }) => [organizationNumber, attempts]));
  }
}

/** The head of a log without events. */
export function newHead(organizationNumber: number) {
  return { organizationNumber, seq: 0, createdAtMs: 0, lastKeyIndex: 0, resets: 0 };
}

function organizationsOf(endpoints: readonly EndpointRow[]): readonly number[] {
  return [...new Set(endpoints.map(({ organizationNumber }) => organizationNumber))].sort((one, other) => one - other);
}

/** The ids of the deliveries that work items create. */
export function newIdsOf(work: readonly WorkItem[]): readonly DispatchKey[] {
  return work.flatMap((item) => {
    if (item.kind !== 'advance') return [];
    return item.batches.map(({ dispatchId }) => ({ endpointNumber: item.endpointNumber, dispatchId }));
  });
}

/** The keys of the rows that work items need. */
export function keysOf(work: readonly WorkItem[], at: ApplyOptions): Omit<RowKeys, 'newIds'> {
  const of = <Kind extends WorkItem['kind']>(...kinds: readonly Kind[]) =>
    work.filter((item): item is Extract<WorkItem, { kind: Kind }> => kinds.some((kind) => kind === item.kind));
  const advances = of('advance');
  return {
    endpoints: [...new Set(work.map(({ endpointNumber }) => endpointNumber))],
    deliveries: [...new Set(of('claim', 'finish', 'lose').map(({ number }) => number))],
    claimed: [...new Set(of('claim').map(({ number }) => number))],
    replays: advances.flatMap(({ source }) => (source.kind === 'replay' ? [source.number] : [])),
    batches: advances.reduce((sum, { batches }) => sum + batches.length, 0),
    hour: at.attemptsPerHourMax === null ? null : hourOf(at),
  };
}

export async function writeWork(tx: Transaction, changes: ReturnType<LoadedRows['changes']>): Promise<void> {
  const { changeRows, queries } = tx;
  const { endpoints, disabled } = changes;
  changeRows(queries.endpointsChanges.insertDeliveries, changes.newDeliveries);
  changeRows(queries.endpointsChanges.updateDeliveries, changes.deliveries);
  changeRows(queries.endpointsChanges.insertAttempts, changes.newAttempts);
  changeRows(queries.endpointsChanges.endAttempts, changes.endedAttempts);
  changeRows(queries.endpointsChanges.updateReplays, changes.replays);
  changeRows(queries.endpointsChanges.addFigures, changes.figures);
  changeRows(
    queries.endpointsChanges.addHours,
    changes.hours.toSorted((one, other) => one.organizationNumber - other.organizationNumber),
  );
  const heads = disabled.length === 0 ? NO_HEADS : await disableEndpoints(tx, disabled);
  changeRows(
    queries.endpointsChanges.updateStates,
    endpoints.map((endpoint) => ({ ...endpoint, subscriptionsJson: subscriptionsOf(endpoint, heads) })),
  );
}

/** The heads of the logs of disabled endpoints, by endpoint number. */
type Heads = ReadonlyMap<number, number>;

const NO_HEADS: Heads = new Map();

/** Locks the heads of their logs until the commit. The object mapper alone writes endpoints; their states are locked already. */
async function disableEndpoints(
  { em, runQuery, queryByNumbers, change, changeRows, queries }: Transaction,
  disabled: readonly EndpointRow[],
): Promise<Heads> {
  const inOrder = organizationsOf(disabled);
  const found = await em.find(WebhookEndpoint, { number: { $in: disabled.map(({ number }) => number) } });
  const endpoints = new Map(found.map((endpoint) => [endpoint.number, endpoint]));
  const counted = change(queries.endpointsChanges.countChange, {});
  changeRows(queries.endpointsChanges.insertHeads, inOrder.map(newHead));
  const [, [{ change: changeNumber } = { change: 0 }], heads] = await Promise.all([
    counted,
    runQuery(queries.endpoints.findChange, {}),
    queryByNumbers(queries.endpointsChanges.lockHeads, inOrder),
  ]);
  for (const { number, status, disabledReason, disabledAtMs, version } of disabled) {
    const endpoint = endpoints.get(number);
    // The instant of disabling is also that of the last update.
    const updatedAtMs = disabledAtMs ?? endpoint?.updatedAtMs;
    if (endpoint !== undefined)
      Object.assign(endpoint, { status, disabledReason, disabledAtMs, updatedAtMs, version, changeNumber });
  }
  const seqs = new Map(heads.map(({ organizationNumber, seq }) => [organizationNumber, seq]));
  return new Map(disabled.map(({ number, organizationNumber }) => [number, seqs.get(organizationNumber) ?? 0]));
}

/** The subscriptions that still apply. A disabled endpoint gets nothing after the head of its log. */
function subscriptionsOf({ number, subscriptionsJson, position }: EndpointRow, heads: Heads): string {
  const subscriptions = JSON.parse(subscriptionsJson) as Subscription[];
  const open = dropPassed(subscriptions, position);
  const headSeq = heads.get(number);
  if (headSeq !== undefined) return JSON.stringify(changeSubscriptions(open, headSeq, NO_EVENTS));
  return open === subscriptions ? subscriptionsJson : JSON.stringify(open);
}

type EndedTests = {
  readonly tests: readonly DeliveryRow[];
  readonly verdict: Verdict | null;
  readonly nowMs: number;
};

/** Ends unfinished tests. Null verdict: the sender was lost. */
export function endTests({ changeRows, queries }: Transaction, { tests, ...over }: EndedTests): void {
  const ended = tests.map((test) => endOfTest(test, over));
  changeRows(
    queries.endpointsChanges.updateDeliveries,
    ended.map(({ delivery }) => delivery),
  );
  changeRows(
    queries.endpointsChanges.endAttempts,
    ended.map(({ attempt }) => attempt),
  );
}

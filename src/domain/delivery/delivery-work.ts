/**
 * Applies work items to the loaded rows of a transaction, which the caller begins and commits. Each item sees the
 * changes of the items before it, and is either applied completely or refused without any change.
 */

import { isOwnFault } from './delivery.ts';
import { advanceSource } from './delivery-advance.ts';
import { endDelivery, LOST_ATTEMPT, recordAttemptEnd } from './delivery-end.ts';
import { type DeliveryRow, type EndpointRow, HOUR_MS } from './delivery-rows.ts';
import { isDue, stepDelivery } from './delivery-step.ts';
import type { LoadedRows } from './loaded-rows.ts';
import type {
  ApplyOptions,
  ClaimedDelivery,
  EndpointSnapshot,
  FencedDelivery,
  WorkItem,
  WorkOutcome,
} from './webhook-store.ts';

type WorkOf<Kind extends WorkItem['kind']> = Extract<WorkItem, { kind: Kind }>;
type Refusal = Extract<WorkOutcome, { kind: 'refused' }>['reason'];

const STALE: WorkOutcome = { kind: 'stale' };

export function applyWork(rows: LoadedRows, items: readonly WorkItem[], at: ApplyOptions): readonly WorkOutcome[] {
  return items.map((item) => applyItem(rows, item, at));
}

function applyItem(rows: LoadedRows, item: WorkItem, at: ApplyOptions): WorkOutcome {
  switch (item.kind) {
    case 'advance':
      return advance(rows, item, at);
    case 'claim':
      return claimWaiting(rows, item, at);
    case 'finish':
      return finish(rows, item, at);
    case 'lose':
      return lose(rows, item, at);
  }
}

function advance(rows: LoadedRows, item: WorkOf<'advance'>, at: ApplyOptions): WorkOutcome {
  const endpoint = rows.endpoint(item.endpointNumber);
  if (endpoint === undefined || isChanged(endpoint, item.version)) return refuse(endpoint, 'changed');
  const position = sourcePosition(rows, item);
  if (position !== item.fromPosition) return refuseMoved(endpoint, position ?? Number.MAX_SAFE_INTEGER);
  const sends = item.batches.some(({ disposition }) => disposition === 'send');
  const refusal = sends ? refuseSend(rows, endpoint, at) : null;
  if (refusal !== null) return refuse(endpoint, refusal);
  const claimed = advanceSource(rows, { endpoint, item, nowMs: at.nowMs });
  return answerClaimed(rows, { endpoint, claimed, at });
}

/** Null for a replay that is no longer running: it has no log left to read. */
function sourcePosition(rows: LoadedRows, { endpointNumber, source }: WorkOf<'advance'>): number | null {
  if (source.kind === 'live') return rows.endpoint(endpointNumber)?.position ?? null;
  const replay = rows.replay(source.number);
  return replay?.endpointNumber === endpointNumber && replay.status === 'running' ? replay.position : null;
}

function claimWaiting(rows: LoadedRows, item: WorkOf<'claim'>, at: ApplyOptions): WorkOutcome {
  const endpoint = rows.endpoint(item.endpointNumber);
  if (endpoint === undefined || isChanged(endpoint, item.version)) return refuse(endpoint, 'changed');
  const delivery = findUntouched(rows, item);
  if (delivery === undefined || !isDue(delivery, endpoint, at.nowMs)) return refuse(endpoint, 'taken');
  const content = rows.content(delivery);
  if (!content.isKept) {
    endDelivery(rows, delivery, { kind: 'expire', nowMs: at.nowMs });
    return refuse(endpoint, 'expired');
  }
  const refusal = refuseSend(rows, endpoint, at);
  if (refusal !== null) return refuse(endpoint, refusal);
  const claimed = beginAttempt(rows, { endpoint, delivery, item, nowMs: at.nowMs });
  return answerClaimed(rows, {
    endpoint,
    claimed: { ...claimed, seqs: content.seqs, created: content.created },
    at,
  });
}

type WaitingClaim = {
  readonly endpoint: EndpointRow;
  readonly delivery: DeliveryRow;
  readonly item: WorkOf<'claim'>;
  readonly nowMs: number;
};

function beginAttempt(
  rows: LoadedRows,
  { endpoint, delivery, item, nowMs }: WaitingClaim,
): Omit<ClaimedDelivery, 'seqs' | 'created'> {
  const { number, endpointNumber, dispatchId } = delivery;
  const event = { kind: 'claim', leaseMs: item.leaseMs } as const;
  const { delivery: state } = stepDelivery(delivery, endpoint, event, { nowMs, random: () => 0 });
  const pending = { responseStatus: null, error: null, terminalHint: false };
  rows.setDelivery({
    ...delivery,
    ...state,
    ...pending,
    firstAttemptAtMs: delivery.firstAttemptAtMs ?? nowMs,
    attemptId: item.attemptId,
    lastAttemptAtMs: nowMs,
  });
  rows.addAttempt({
    ...pending,
    endpointNumber,
    firedAtMs: nowMs,
    id: item.attemptId,
    deliveryNumber: number,
    attempt: state.attempt,
    outcome: 'pending',
    latencyMs: null,
    responseBody: null,
    test: false,
  });
  return { number, dispatchId, attempt: state.attempt, fence: state.fence, replay: delivery.replayNumber !== null };
}

/** Counts the claimed attempt, if any, as in flight. */
function answerClaimed(
  rows: LoadedRows,
  { endpoint, claimed, at }: { endpoint: EndpointRow; claimed: ClaimedDelivery | null; at: ApplyOptions },
): WorkOutcome {
  const now = rows.endpoint(endpoint.number) ?? endpoint;
  if (claimed === null) return { kind: 'claimed', claimed, snapshot: snapshotOf(now) };
  const after = { ...now, inFlight: now.inFlight + 1 };
  rows.setEndpoint(after);
  if (at.attemptsPerHourMax !== null) rows.countAttempt(endpoint.organizationNumber, hourOf(at));
  return { kind: 'claimed', claimed, snapshot: snapshotOf(after) };
}

function finish(rows: LoadedRows, item: WorkOf<'finish'>, at: ApplyOptions): WorkOutcome {
  const sending = findSending(rows, item);
  if (sending === null) return STALE;
  const { verdict, destinationVersion, random } = item;
  const event = { kind: 'finish', verdict, destinationVersion } as const;
  const { kind, retryAfterMs: _floor, ...end } = verdict;
  const outcome = recordAttemptEnd(rows, { ...sending, event, end, nowMs: at.nowMs, random });
  if (!isOwnFault(verdict)) rows.countFinished(item.endpointNumber, at.nowMs, kind === 'success');
  return { ...outcome, snapshot: snapshotOf(rows.endpoint(item.endpointNumber) ?? sending.endpoint) };
}

function lose(rows: LoadedRows, item: WorkOf<'lose'>, at: ApplyOptions): WorkOutcome {
  const sending = findSending(rows, item);
  if (sending === null) return STALE;
  const event = { kind: 'lose' } as const;
  const outcome = recordAttemptEnd(rows, {
    ...sending,
    event,
    end: LOST_ATTEMPT,
    nowMs: at.nowMs,
    random: item.random,
  });
  return { ...outcome, snapshot: snapshotOf(rows.endpoint(item.endpointNumber) ?? sending.endpoint) };
}

/** The delivery, if its fence has not moved since. */
function findUntouched(rows: LoadedRows, { endpointNumber, number, fence }: FencedDelivery): DeliveryRow | undefined {
  const delivery = rows.delivery(number);
  if (delivery === undefined || delivery.endpointNumber !== endpointNumber || delivery.test) return undefined;
  return delivery.fence === fence ? delivery : undefined;
}

function findSending(rows: LoadedRows, item: FencedDelivery): { delivery: DeliveryRow; endpoint: EndpointRow } | null {
  const delivery = findUntouched(rows, item);
  const endpoint = rows.endpoint(item.endpointNumber);
  if (delivery?.status !== 'sending' || endpoint === undefined) return null;
  return { delivery, endpoint };
}

function isChanged(endpoint: EndpointRow, version: number): boolean {
  return !isActive(endpoint) || endpoint.version !== version;
}

function isActive({ status, isArchived }: EndpointRow): boolean {
  return status === 'active' && !isArchived;
}

function refuseSend(rows: LoadedRows, endpoint: EndpointRow, at: ApplyOptions): Refusal | null {
  if (endpoint.inFlight >= endpoint.maxInFlight) return 'full';
  const { attemptsPerHourMax } = at;
  if (attemptsPerHourMax === null) return null;
  return rows.attemptsInHour(endpoint.organizationNumber) >= attemptsPerHourMax ? 'capped' : null;
}

export function hourOf({ nowMs }: Pick<ApplyOptions, 'nowMs'>): number {
  return Math.floor(nowMs / HOUR_MS);
}

function refuse(endpoint: EndpointRow | undefined, reason: Refusal): WorkOutcome {
  return { kind: 'refused', reason, snapshot: endpoint === undefined ? null : snapshotOf(endpoint) };
}

/** The snapshot of the answer has the position of the source that the item named. */
function refuseMoved(endpoint: EndpointRow, position: number): WorkOutcome {
  return { kind: 'refused', reason: 'moved', snapshot: { ...snapshotOf(endpoint), position } };
}

function snapshotOf(endpoint: EndpointRow): EndpointSnapshot {
  const { version, position, inFlight, consecutiveFailures } = endpoint;
  return { version, isActive: isActive(endpoint), position, inFlight, consecutiveFailures };
}

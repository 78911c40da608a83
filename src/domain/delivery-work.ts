/**
 * Applies work to the rows of a transaction, which somebody else begins and ends. Each piece is judged by what the
 * pieces before it left behind, and either done whole or refused without a trace.
 */

import { cutBatches } from './delivery-cut.ts';
import { endDelivery, NEVER_HEARD_OF, recordEnd } from './delivery-end.ts';
import { HOUR_MS, type WorkDelivery, type WorkEndpoint } from './delivery-rows.ts';
import { isDue, stepDelivery } from './delivery-step.ts';
import type { WorkSet } from './delivery-work-set.ts';
import type { Claimed, EndpointPlace, Work, WorkInstant, WorkOutcome } from './webhook-store.ts';

type WorkOf<Kind extends Work['kind']> = Extract<Work, { kind: Kind }>;
type Refusal = Extract<WorkOutcome, { kind: 'refused' }>['reason'];

export const STALE: WorkOutcome = { kind: 'stale' };

export function applyWork(set: WorkSet, work: readonly Work[], at: WorkInstant): readonly WorkOutcome[] {
  return work.map((piece) => applyPiece(set, piece, at));
}

function applyPiece(set: WorkSet, work: Work, at: WorkInstant): WorkOutcome {
  switch (work.kind) {
    case 'cut':
      return cut(set, work, at);
    case 'take':
      return take(set, work, at);
    case 'finish':
      return finish(set, work, at);
    case 'lose':
      return lose(set, work, at);
  }
}

function cut(set: WorkSet, work: WorkOf<'cut'>, at: WorkInstant): WorkOutcome {
  const endpoint = set.endpoint(work.endpointNumber);
  if (endpoint === undefined || isChanged(endpoint, work.version)) return refuse(endpoint, 'changed');
  const position = lanePosition(set, work);
  if (position !== work.fromPosition) return refuseMoved(endpoint, position ?? Number.MAX_SAFE_INTEGER);
  const sends = work.batches.some(({ fate }) => fate === 'send');
  const refusal = sends ? refuseSend(set, endpoint, at) : null;
  if (refusal !== null) return refuse(endpoint, refusal);
  const claimed = cutBatches(set, { endpoint, work, nowMs: at.nowMs });
  return claim(set, { endpoint, claimed, at });
}

/** Null for a replay that is no longer going on: it has nothing left of the log before it. */
function lanePosition(set: WorkSet, { endpointNumber, lane }: WorkOf<'cut'>): number | null {
  if (lane.kind === 'fresh') return set.endpoint(endpointNumber)?.position ?? null;
  const replay = set.replay(lane.number);
  return replay?.endpointNumber === endpointNumber && replay.status === 'running' ? replay.position : null;
}

function take(set: WorkSet, work: WorkOf<'take'>, at: WorkInstant): WorkOutcome {
  const endpoint = set.endpoint(work.endpointNumber);
  if (endpoint === undefined || isChanged(endpoint, work.version)) return refuse(endpoint, 'changed');
  const delivery = findOwn(set, work);
  if (delivery === undefined || !isDue(delivery, endpoint, at.nowMs)) return refuse(endpoint, 'taken');
  const content = set.content(delivery);
  if (!content.isKept) {
    endDelivery(set, delivery, { kind: 'expire', nowMs: at.nowMs });
    return refuse(endpoint, 'expired');
  }
  const refusal = refuseSend(set, endpoint, at);
  if (refusal !== null) return refuse(endpoint, refusal);
  const claimed = beginAttempt(set, { endpoint, delivery, work, nowMs: at.nowMs });
  return claim(set, {
    endpoint,
    claimed: { ...claimed, seqs: content.seqs, created: content.created },
    at,
  });
}

type Take = {
  readonly endpoint: WorkEndpoint;
  readonly delivery: WorkDelivery;
  readonly work: WorkOf<'take'>;
  readonly nowMs: number;
};

function beginAttempt(set: WorkSet, { endpoint, delivery, work, nowMs }: Take): Omit<Claimed, 'seqs' | 'created'> {
  const { number, endpointNumber, dispatchId } = delivery;
  const event = { kind: 'claim', leaseMs: work.leaseMs } as const;
  const { delivery: state } = stepDelivery(delivery, endpoint, event, { nowMs, random: () => 0 });
  const pending = { responseStatus: null, error: null, terminalHint: false };
  set.setDelivery({
    ...delivery,
    ...state,
    ...pending,
    firstAttemptAtMs: delivery.firstAttemptAtMs ?? nowMs,
    attemptId: work.attemptId,
    lastAttemptAtMs: nowMs,
  });
  set.addAttempt({
    ...pending,
    endpointNumber,
    firedAtMs: nowMs,
    id: work.attemptId,
    deliveryNumber: number,
    attempt: state.attempt,
    outcome: 'pending',
    latencyMs: null,
    responseBody: null,
    test: false,
  });
  return { number, dispatchId, attempt: state.attempt, fence: state.fence, replay: delivery.replayNumber !== null };
}

/** Takes the slot of what was claimed, when anything was. */
function claim(
  set: WorkSet,
  { endpoint, claimed, at }: { endpoint: WorkEndpoint; claimed: Claimed | null; at: WorkInstant },
): WorkOutcome {
  const now = set.endpoint(endpoint.number) ?? endpoint;
  if (claimed === null) return { kind: 'claimed', claimed, place: placeOf(now) };
  const after = { ...now, inFlight: now.inFlight + 1 };
  set.setEndpoint(after);
  if (at.attemptsPerHourMax !== null) set.countAttempt(endpoint.organizationNumber, hourOf(at));
  return { kind: 'claimed', claimed, place: placeOf(after) };
}

function finish(set: WorkSet, work: WorkOf<'finish'>, at: WorkInstant): WorkOutcome {
  const sending = findSending(set, work);
  if (sending === null) return STALE;
  const { verdict, destinationVersion, random } = work;
  const event = { kind: 'finish', verdict, destinationVersion } as const;
  const { kind, retryAfterMs: _floor, ...end } = verdict;
  const outcome = recordEnd(set, { ...sending, event, end, nowMs: at.nowMs, random });
  if (kind !== 'ours') set.countFinished(work.endpointNumber, at.nowMs, kind === 'success');
  return { ...outcome, place: placeOf(set.endpoint(work.endpointNumber) ?? sending.endpoint) };
}

function lose(set: WorkSet, work: WorkOf<'lose'>, at: WorkInstant): WorkOutcome {
  const sending = findSending(set, work);
  if (sending === null) return STALE;
  const event = { kind: 'lose' } as const;
  const outcome = recordEnd(set, { ...sending, event, end: NEVER_HEARD_OF, nowMs: at.nowMs, random: work.random });
  return { ...outcome, place: placeOf(set.endpoint(work.endpointNumber) ?? sending.endpoint) };
}

type Named = { readonly endpointNumber: number; readonly number: number; readonly fence: number };

/** The delivery, if nobody has had it in hand since. */
function findOwn(set: WorkSet, { endpointNumber, number, fence }: Named): WorkDelivery | undefined {
  const delivery = set.delivery(number);
  if (delivery === undefined || delivery.endpointNumber !== endpointNumber || delivery.test) return undefined;
  return delivery.fence === fence ? delivery : undefined;
}

function findSending(set: WorkSet, work: Named): { delivery: WorkDelivery; endpoint: WorkEndpoint } | null {
  const delivery = findOwn(set, work);
  const endpoint = set.endpoint(work.endpointNumber);
  if (delivery?.status !== 'sending' || endpoint === undefined) return null;
  return { delivery, endpoint };
}

function isChanged(endpoint: WorkEndpoint, version: number): boolean {
  return !isActive(endpoint) || endpoint.version !== version;
}

function isActive({ status, isArchived }: WorkEndpoint): boolean {
  return status === 'active' && !isArchived;
}

function refuseSend(set: WorkSet, endpoint: WorkEndpoint, at: WorkInstant): Refusal | null {
  if (endpoint.inFlight >= endpoint.maxInFlight) return 'full';
  const { attemptsPerHourMax } = at;
  if (attemptsPerHourMax === null) return null;
  return set.attemptsInHour(endpoint.organizationNumber) >= attemptsPerHourMax ? 'capped' : null;
}

export function hourOf({ nowMs }: Pick<WorkInstant, 'nowMs'>): number {
  return Math.floor(nowMs / HOUR_MS);
}

function refuse(endpoint: WorkEndpoint | undefined, reason: Refusal): WorkOutcome {
  return { kind: 'refused', reason, place: endpoint === undefined ? null : placeOf(endpoint) };
}

/** Whoever wanted to cut is told where its own lane stands. */
function refuseMoved(endpoint: WorkEndpoint, position: number): WorkOutcome {
  return { kind: 'refused', reason: 'moved', place: { ...placeOf(endpoint), position } };
}

function placeOf(endpoint: WorkEndpoint): EndpointPlace {
  const { version, position, inFlight, consecutiveFailures } = endpoint;
  return { version, isActive: isActive(endpoint), position, inFlight, consecutiveFailures };
}

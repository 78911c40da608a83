/** Sends the events of a time range again. */

import { type ReplayView, viewReplay } from '../delivery/delivery-view.ts';
import type { MatchedEvents } from '../delivery/webhook-store.ts';
import {
  ALL_EVENTS,
  type EventMask,
  maskOfSelector,
  maskOfSelectors,
  SELECTOR_EXPECTED,
} from '../events/event-type.ts';
import { Fault, type Reason } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import type { IdempotentCall, ManagementCall, Target } from '../management/management-call.ts';
import { rangeProblems, refuseProblems } from '../reasons.ts';
import { retentionStartMs } from '../retention-terms.ts';
import type { Endpoint } from './endpoint.ts';
import {
  commitIdempotentlyOnEndpoint,
  type EndpointDeps,
  endpointAction,
  requireActive,
  requireEndpoint,
} from './endpoint-deps.ts';

/** Both ends are included. */
export type ReplayRange = {
  readonly fromMs: number;
  readonly toMs: number;
  /** A selector; null: all events that the endpoint gets. */
  readonly type: string | null;
};

export type StartedReplay = { readonly replayId: string; readonly matched: number };

export type ReplayRequest = Target<IdempotentCall<StartedReplay>> & { readonly range: ReplayRange };

const UNFINISHED_MAX = 4;

/** The problems of a range whose ends are valid instants. */
export function replayProblems({ fromMs, toMs, type }: ReplayRange): readonly Reason[] {
  if (type === null || maskOfSelector(type) !== null) return rangeProblems(fromMs, toMs);
  const message = `type must be ${SELECTOR_EXPECTED}`;
  return [{ field: 'type', type: 'invalid_enum_value', message }, ...rangeProblems(fromMs, toMs)];
}

/** The start fixes the range of the log: the replay leaves out events stored later. */
export function startReplay(deps: EndpointDeps, request: ReplayRequest): Promise<StartedReplay> {
  const { webhooks, random } = deps;
  const { call, range } = request;
  refuseProblems(replayProblems(range));
  const match = createMatch(deps, call, range);
  return commitIdempotentlyOnEndpoint(deps, request, async (endpoint) => {
    requireActive(endpoint);
    if ((await webhooks.countUnfinishedReplays(endpoint.number)) >= UNFINISHED_MAX) throw tooManyReplays();
    const mask =
      maskOfSelectors(endpoint.enabledEvents) & (range.type === null ? ALL_EVENTS : maskOfSelectors([range.type]));
    const found = await match(endpoint, mask);
    const id = newId('replay', random);
    const replay = { ...range, ...found, id, endpointNumber: endpoint.number, mask, createdAtMs: call.nowMs };
    const result = { replayId: id, matched: found.matched };
    return { result, change: { replays: [replay] }, audited: endpointAction('replay', endpoint) };
  });
}

/** Throws webhook_replay_not_found. */
export async function getReplay(
  { webhooks }: EndpointDeps,
  { call, id }: Target,
  replayId: string,
): Promise<ReplayView> {
  const endpoint = await requireEndpoint(webhooks, call.caller.organization.id, id);
  const found = isPossibleId(replayId) ? await webhooks.replay(endpoint.number, replayId) : null;
  if (found === null) throw new Fault('webhook_replay_not_found', 'Webhook replay not found.');
  return viewReplay(found, endpoint);
}

type Match = (endpoint: Endpoint, mask: EventMask) => Promise<MatchedEvents>;

/**
 * Counting thirteen months of events is slow, so another attempt of the commit reuses the count while the mask is the
 * same.
 */
function createMatch({ webhookLog }: EndpointDeps, { nowMs }: ManagementCall, { fromMs, toMs }: ReplayRange): Match {
  let known: { readonly mask: EventMask; readonly found: MatchedEvents } | null = null;
  return async ({ organizationNumber }, mask) => {
    if (known?.mask === mask) return known.found;
    const request = { fromMs, toMs, sinceMs: retentionStartMs(nowMs), mask };
    const found = await webhookLog.matchEvents(organizationNumber, request);
    known = { mask, found };
    return found;
  };
}

function tooManyReplays(): Fault {
  return new Fault(
    'too_many_replays',
    `The webhook endpoint has ${UNFINISHED_MAX} unfinished replays, which is the limit.`,
  );
}

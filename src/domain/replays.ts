/** Sending the events of a time range once more. */

import { auditRecord } from './audit.ts';
import { type ReplayView, viewReplay } from './delivery-view.ts';
import type { Endpoint } from './endpoint.ts';
import {
  decideOnceOnEndpoint,
  type EndpointDeps,
  type EndpointTarget,
  requireActive,
  requireEndpoint,
  TARGET_TYPE,
} from './endpoint-deps.ts';
import { type EventMask, maskOfSelector, maskOfSelectors } from './event-type.ts';
import { rangeProblems } from './events.ts';
import { Fault, type Reason } from './fault.ts';
import { newId } from './ids.ts';
import { isNameable, type ManagementCall, type ReceiptOf } from './management-call.ts';
import { retentionStartMs } from './page.ts';
import { refuseProblems } from './reasons.ts';
import type { MatchedEvents } from './webhook-store.ts';

/** Both ends of the range count. */
export type ReplayRange = {
  readonly fromMs: number;
  readonly toMs: number;
  /** A selector; null: all that the endpoint gets. */
  readonly type: string | null;
};

export type StartedReplay = { readonly replayId: string; readonly matched: number };

export type ReplayWish = EndpointTarget & {
  readonly range: ReplayRange;
  readonly receipt: ReceiptOf<StartedReplay>;
};

const UNFINISHED_MAX = 4;

/** What is wrong with a range whose ends are valid. */
export function replayProblems({ fromMs, toMs, type }: ReplayRange): readonly Reason[] {
  if (type === null || maskOfSelector(type) !== null) return rangeProblems(fromMs, toMs);
  const message = 'type must be a type of event or a selector such as gateway.request.*';
  return [{ field: 'type', type: 'invalid_enum_value', message }, ...rangeProblems(fromMs, toMs)];
}

/** What it takes is settled here: events that are stored later are no part of it. */
export function startReplay(deps: EndpointDeps, { call, id, range, receipt }: ReplayWish): Promise<StartedReplay> {
  const { webhooks, random } = deps;
  const { actor, nowMs } = call;
  refuseProblems(replayProblems(range));
  const match = createMatch(deps, call, range);
  return decideOnceOnEndpoint(
    deps,
    { call, id },
    {
      receipt,
      async take(endpoint) {
        requireActive(endpoint);
        if ((await webhooks.countUnfinishedReplays(endpoint.number)) >= UNFINISHED_MAX) throw tooManyReplays();
        const mask = maskOfSelectors(endpoint.enabledEvents) & maskOfSelectors([range.type ?? '*']);
        const found = await match(endpoint, mask);
        const replay = {
          ...range,
          ...found,
          id: newId('replay', random),
          endpointNumber: endpoint.number,
          mask,
          createdAtMs: nowMs,
        };
        const result = { replayId: replay.id, matched: found.matched };
        const deed = { action: `${TARGET_TYPE}.replay`, targetType: TARGET_TYPE, targetId: id };
        const audit = [auditRecord(actor, deed, { nowMs, random })];
        return { result, change: { replays: [replay], audit } };
      },
    },
  );
}

/** Throws webhook_replay_not_found. */
export async function getReplay(
  { webhooks }: EndpointDeps,
  { call, id }: EndpointTarget,
  replayId: string,
): Promise<ReplayView> {
  const endpoint = await requireEndpoint(webhooks, call.caller.organization.id, id);
  const found = isNameable(replayId) ? await webhooks.replay(endpoint.number, replayId) : null;
  if (found === null) throw new Fault('webhook_replay_not_found', 'Webhook replay not found.');
  return viewReplay(found, endpoint);
}

type Match = (endpoint: Endpoint, mask: EventMask) => Promise<MatchedEvents>;

/** Counting thirteen months takes a while, so a decision that is made again does not count again without need. */
function createMatch({ webhooks }: EndpointDeps, { nowMs }: ManagementCall, { fromMs, toMs }: ReplayRange): Match {
  let known: { readonly mask: EventMask; readonly found: MatchedEvents } | null = null;
  return async ({ organizationNumber }, mask) => {
    if (known?.mask === mask) return known.found;
    const question = { fromMs, toMs, sinceMs: retentionStartMs(nowMs), mask };
    const found = await webhooks.matchEvents(organizationNumber, question);
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

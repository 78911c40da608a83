/** The webhook endpoints of an organization: making, changing and ending them, and seeing how they fare. */

import type { Attempt } from './delivery.ts';
import { type DeliveryView, type DeliveryWithAttempts, type ReplayView, viewDelivery } from './delivery-view.ts';
import { archiveEndpoint, rollSecret, type SecretRoll, updateEndpoint } from './endpoint-changes.ts';
import { createEndpoint } from './endpoint-creation.ts';
import { type EndpointDeps, type EndpointTarget, requireEndpoint } from './endpoint-deps.ts';
import { changeProblems, creationProblems, type EndpointDraft } from './endpoint-draft.ts';
import { type EndpointHealth, readHealth } from './endpoint-health.ts';
import { type EndpointPage, type ListWish, listAttempts, listDeadLetters, listEndpoints } from './endpoint-lists.ts';
import { type TestOutcome, testEndpoint } from './endpoint-tests.ts';
import { type EndpointView, type SecretEndpoint, viewEndpoint } from './endpoint-view.ts';
import type { Reason } from './fault.ts';
import { createInTurn } from './in-turn.ts';
import type { CursorPage, CursorWish } from './listing.ts';
import type { ManagementCall, ReceiptOf } from './management-call.ts';
import { type RedeliveryWish, redeliver, requireDelivery } from './redeliveries.ts';
import {
  getReplay,
  type ReplayRange,
  type ReplayWish,
  replayProblems,
  type StartedReplay,
  startReplay,
} from './replays.ts';

/** Whatever is about one endpoint throws webhook_endpoint_not_found, for archived and hidden ones too. */
export type Endpoints = {
  /** Every problem in the shape of an endpoint that is to be made, none when the rules can look at it. */
  creationProblems(draft: EndpointDraft): readonly Reason[];
  /** The same of a change, as far as it can be told without the endpoint. */
  changeProblems(draft: EndpointDraft): readonly Reason[];
  replayProblems(range: ReplayRange): readonly Reason[];
  /** Throws webhook_endpoint_invalid and webhook_endpoint_limit. */
  create(call: ManagementCall, draft: EndpointDraft, receipt: ReceiptOf<SecretEndpoint>): Promise<SecretEndpoint>;
  /** Oldest first. Throws invalid_cursor. */
  list(call: ManagementCall, wish: CursorWish): Promise<EndpointPage>;
  get(target: EndpointTarget): Promise<EndpointView>;
  /** Throws webhook_endpoint_invalid. */
  update(target: EndpointTarget, draft: EndpointDraft): Promise<EndpointView>;
  /** Ends it for good. */
  archive(target: EndpointTarget): Promise<void>;
  /** Rolls of one endpoint are made one after the other: nobody gets a secret that another roll has ended already. */
  rollSecret(roll: SecretRoll): Promise<SecretEndpoint>;
  /** Throws rate_limited. */
  test(target: EndpointTarget): Promise<TestOutcome>;
  /** Newest first. Throws invalid_cursor. */
  attempts(wish: ListWish): Promise<CursorPage<Attempt>>;
  /** Throws webhook_delivery_not_found. */
  delivery(target: EndpointTarget, dispatchId: string): Promise<DeliveryWithAttempts>;
  /** Throws webhook_delivery_not_found, webhook_delivery_not_redeliverable, webhook_delivery_in_progress and webhook_endpoint_disabled. */
  redeliver(wish: RedeliveryWish): Promise<DeliveryView>;
  /** The last to end first. Throws invalid_cursor. */
  deadLetters(wish: ListWish): Promise<CursorPage<DeliveryView>>;
  /** Throws webhook_endpoint_disabled and too_many_replays. */
  startReplay(wish: ReplayWish): Promise<StartedReplay>;
  /** Throws webhook_replay_not_found. */
  replay(target: EndpointTarget, replayId: string): Promise<ReplayView>;
  health(target: EndpointTarget): Promise<EndpointHealth>;
};

const ATTEMPTS_TOLD_MAX = 100;

export function createEndpoints(deps: EndpointDeps): Endpoints {
  const inTurn = createInTurn();
  return {
    creationProblems,
    changeProblems,
    replayProblems,
    create: (call, draft, receipt) => createEndpoint(deps, { call, draft, receipt }),
    list: (call, wish) => listEndpoints(deps, call, wish),
    async get({ call, id }) {
      return viewEndpoint(await requireEndpoint(deps.webhooks, call.caller.organization.id, id), deps.queues.service);
    },
    update: (target, draft) => updateEndpoint(deps, { ...target, draft }),
    archive: (target) => archiveEndpoint(deps, target),
    rollSecret: (roll) => inTurn(`${roll.call.caller.organization.id}/${roll.id}`, () => rollSecret(deps, roll)),
    test: (target) => testEndpoint(deps, target),
    attempts: (wish) => listAttempts(deps, wish),
    delivery: (target, dispatchId) => getDelivery(deps, target, dispatchId),
    redeliver: (wish) => redeliver(deps, wish),
    deadLetters: (wish) => listDeadLetters(deps, wish),
    startReplay: (wish) => startReplay(deps, wish),
    replay: (target, replayId) => getReplay(deps, target, replayId),
    health: (target) => readHealth(deps, target),
  };
}

async function getDelivery(
  { webhooks }: EndpointDeps,
  { call, id }: EndpointTarget,
  dispatchId: string,
): Promise<DeliveryWithAttempts> {
  const { nowMs, caller } = call;
  const endpoint = await requireEndpoint(webhooks, caller.organization.id, id);
  const delivery = await requireDelivery(webhooks, endpoint, { dispatchId, nowMs });
  const attempts = await webhooks.attemptsOf(endpoint.number, dispatchId, ATTEMPTS_TOLD_MAX);
  return { delivery: viewDelivery(delivery, endpoint, nowMs), attempts };
}

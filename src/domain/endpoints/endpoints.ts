/** The operations on the webhook endpoints of an organization. */

import type { Attempt } from '../delivery/delivery.ts';
import {
  type DeliveryView,
  type DeliveryWithAttempts,
  type ReplayView,
  viewDelivery,
} from '../delivery/delivery-view.ts';
import type { Reason } from '../fault.ts';
import { createKeyedMutex } from '../keyed-mutex.ts';
import type { CursorPage, CursorPageRequest } from '../management/listing.ts';
import type { ManagementCall, ReceiptOf } from '../management/management-call.ts';
import { archiveEndpoint, rollSecret, type SecretRoll, updateEndpoint } from './endpoint-changes.ts';
import { createEndpoint } from './endpoint-creation.ts';
import { type EndpointDeps, type EndpointTarget, requireEndpoint } from './endpoint-deps.ts';
import { changeProblems, creationProblems, type EndpointDraft } from './endpoint-draft.ts';
import { type EndpointHealth, readHealth } from './endpoint-health.ts';
import { type EndpointPage, type ListRequest, listAttempts, listDeadLetters, listEndpoints } from './endpoint-lists.ts';
import { type TestOutcome, testEndpoint } from './endpoint-tests.ts';
import { type EndpointView, type SecretEndpoint, viewEndpoint } from './endpoint-view.ts';
import { type RedeliveryRequest, redeliver, requireDelivery } from './redeliveries.ts';
import {
  getReplay,
  type ReplayRange,
  type ReplayRequest,
  replayProblems,
  type StartedReplay,
  startReplay,
} from './replays.ts';

/** Every operation on one endpoint throws webhook_endpoint_not_found, for archived and hidden ones too. */
export type Endpoints = {
  /** All problems in the shape of a new endpoint; empty when it may be passed to `create`. */
  creationProblems(draft: EndpointDraft): readonly Reason[];
  /** All problems in the shape of an update that show without the stored endpoint. */
  changeProblems(draft: EndpointDraft): readonly Reason[];
  replayProblems(range: ReplayRange): readonly Reason[];
  /** Throws webhook_endpoint_invalid and webhook_endpoint_limit. */
  create(call: ManagementCall, draft: EndpointDraft, receipt: ReceiptOf<SecretEndpoint>): Promise<SecretEndpoint>;
  /** Oldest first. Throws invalid_cursor. */
  list(call: ManagementCall, request: CursorPageRequest): Promise<EndpointPage>;
  get(target: EndpointTarget): Promise<EndpointView>;
  /** Throws webhook_endpoint_invalid. */
  update(target: EndpointTarget, draft: EndpointDraft): Promise<EndpointView>;
  /** Archives the endpoint permanently. */
  archive(target: EndpointTarget): Promise<void>;
  /** Serializes the rolls of one endpoint, so that no caller gets a secret that another roll has already ended. */
  rollSecret(roll: SecretRoll): Promise<SecretEndpoint>;
  /** Throws rate_limited. */
  test(target: EndpointTarget): Promise<TestOutcome>;
  /** Newest first. Throws invalid_cursor. */
  attempts(request: ListRequest): Promise<CursorPage<Attempt>>;
  /** Throws webhook_delivery_not_found. */
  delivery(target: EndpointTarget, dispatchId: string): Promise<DeliveryWithAttempts>;
  /** Throws webhook_delivery_not_found, webhook_delivery_not_redeliverable, webhook_delivery_in_progress and webhook_endpoint_disabled. */
  redeliver(request: RedeliveryRequest): Promise<DeliveryView>;
  /** Latest end first. Throws invalid_cursor. */
  deadLetters(request: ListRequest): Promise<CursorPage<DeliveryView>>;
  /** Throws webhook_endpoint_disabled and too_many_replays. */
  startReplay(request: ReplayRequest): Promise<StartedReplay>;
  /** Throws webhook_replay_not_found. */
  replay(target: EndpointTarget, replayId: string): Promise<ReplayView>;
  health(target: EndpointTarget): Promise<EndpointHealth>;
};

const ATTEMPTS_SHOWN_MAX = 100;

export function createEndpoints(deps: EndpointDeps): Endpoints {
  const secretRolls = createKeyedMutex();
  return {
    creationProblems,
    changeProblems,
    replayProblems,
    create: (call, draft, receipt) => createEndpoint(deps, { call, draft, receipt }),
    list: (call, request) => listEndpoints(deps, call, request),
    async get({ call, id }) {
      return viewEndpoint(await requireEndpoint(deps.webhooks, call.caller.organization.id, id), deps.queues.service);
    },
    update: (target, draft) => updateEndpoint(deps, { ...target, draft }),
    archive: (target) => archiveEndpoint(deps, target),
    rollSecret: (roll) =>
      secretRolls.run(`${roll.call.caller.organization.id}/${roll.id}`, () => rollSecret(deps, roll)),
    test: (target) => testEndpoint(deps, target),
    attempts: (request) => listAttempts(deps, request),
    delivery: (target, dispatchId) => getDelivery(deps, target, dispatchId),
    redeliver: (request) => redeliver(deps, request),
    deadLetters: (request) => listDeadLetters(deps, request),
    startReplay: (request) => startReplay(deps, request),
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
  const attempts = await webhooks.attemptsOf(endpoint.number, dispatchId, ATTEMPTS_SHOWN_MAX);
  return { delivery: viewDelivery(delivery, endpoint, nowMs), attempts };
}

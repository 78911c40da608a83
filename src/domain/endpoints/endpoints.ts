/** The operations on the webhook endpoints of an organization. */

import { createKeyedMutex } from '../../scheduling/keyed-mutex.ts';
import { type DeliveryWithAttempts, viewDelivery } from '../delivery/delivery-view.ts';
import type { CursorPageRequest } from '../management/listing.ts';
import type { IdempotentCall, ManagementCall, Target } from '../management/management-call.ts';
import { archiveEndpoint, rollSecret, type SecretRoll, updateEndpoint } from './endpoint-changes.ts';
import { createEndpoint } from './endpoint-creation.ts';
import { type EndpointDeps, requireEndpoint } from './endpoint-deps.ts';
import { changeProblems, creationProblems, type EndpointDraft } from './endpoint-draft.ts';
import { readHealth } from './endpoint-health.ts';
import { type ListRequest, listAttempts, listDeadLetters, listEndpoints } from './endpoint-lists.ts';
import { testEndpoint } from './endpoint-tests.ts';
import { type EndpointView, type SecretEndpoint, viewEndpoint } from './endpoint-view.ts';
import { type RedeliveryRequest, redeliver, requireDelivery } from './redeliveries.ts';
import { getReplay, type ReplayRequest, replayProblems, startReplay } from './replays.ts';

const ATTEMPTS_SHOWN_MAX = 100;

export type Endpoints = ReturnType<typeof createEndpoints>;

/** Every operation on one endpoint throws webhook_endpoint_not_found, for archived and hidden ones too. */
export function createEndpoints(deps: EndpointDeps) {
  const secretRolls = createKeyedMutex();
  return {
    /** All problems in the shape of a new endpoint; empty when it may be passed to `create`. */
    creationProblems,
    /** All problems in the shape of an update that show without the stored endpoint. */
    changeProblems,
    replayProblems,
    /** Throws webhook_endpoint_invalid and webhook_endpoint_limit. */
    create: (call: IdempotentCall<SecretEndpoint>, draft: EndpointDraft) => createEndpoint(deps, call, draft),
    /** Oldest first. Throws invalid_cursor. */
    list: (call: ManagementCall, request: CursorPageRequest) => listEndpoints(deps, call, request),
    async get({ call, id }: Target): Promise<EndpointView> {
      return viewEndpoint(await requireEndpoint(deps.webhooks, call.caller.organization.id, id), deps.queues.service);
    },
    /** Throws webhook_endpoint_invalid. */
    update: (target: Target, draft: EndpointDraft) => updateEndpoint(deps, { ...target, draft }),
    /** Archives the endpoint permanently. */
    archive: (target: Target) => archiveEndpoint(deps, target),
    /** Serializes the rolls of one endpoint, so that no caller gets a secret that another roll has already ended. */
    rollSecret: (roll: SecretRoll) =>
      secretRolls.run(`${roll.call.caller.organization.id}/${roll.id}`, () => rollSecret(deps, roll)),
    /** Throws rate_limited. */
    test: (target: Target) => testEndpoint(deps, target),
    /** Newest first. Throws invalid_cursor. */
    attempts: (request: ListRequest) => listAttempts(deps, request),
    /** Throws webhook_delivery_not_found. */
    delivery: (target: Target, dispatchId: string) => getDelivery(deps, target, dispatchId),
    /**
     * Throws webhook_delivery_not_found, webhook_delivery_not_redeliverable, webhook_delivery_in_progress and
     * webhook_endpoint_disabled.
     */
    redeliver: (request: RedeliveryRequest) => redeliver(deps, request),
    /** Latest end first. Throws invalid_cursor. */
    deadLetters: (request: ListRequest) => listDeadLetters(deps, request),
    /** Throws webhook_endpoint_disabled and too_many_replays. */
    startReplay: (request: ReplayRequest) => startReplay(deps, request),
    /** Throws webhook_replay_not_found. */
    replay: (target: Target, replayId: string) => getReplay(deps, target, replayId),
    health: (target: Target) => readHealth(deps, target),
  };
}

async function getDelivery(
  { webhooks }: EndpointDeps,
  { call, id }: Target,
  dispatchId: string,
): Promise<DeliveryWithAttempts> {
  const { nowMs, caller } = call;
  const endpoint = await requireEndpoint(webhooks, caller.organization.id, id);
  const delivery = await requireDelivery(webhooks, endpoint, { dispatchId, nowMs });
  const attempts = await webhooks.attemptsOf(endpoint.number, dispatchId, ATTEMPTS_SHOWN_MAX);
  return { delivery: viewDelivery(delivery, endpoint, nowMs), attempts };
}

/** An organization with endpoints, and shortcuts for operations of senders and the owner. */

import { randomBytes, randomUUID } from 'node:crypto';
import type { Delivery, Verdict } from '../../../src/domain/delivery/delivery.ts';
import type {
  ApplyOptions,
  ClaimedDelivery,
  DeliverySource,
  DispatchEndpoint,
  LogEntry,
  NewBatch,
  WorkItem,
  WorkOutcome,
} from '../../../src/domain/delivery/webhook-store.ts';
import type { Endpoint, EndpointChange, EndpointRecord } from '../../../src/domain/endpoints/endpoint.ts';
import type { ManagementChange } from '../../../src/domain/management/management.ts';
import type { Store } from '../../../src/domain/store.ts';
import { change, found } from './management-samples.ts';
import { randomHex, sampleAppend, sampleRequest } from './samples.ts';
import { type OpenSubject, type Subject, withStore } from './subject.ts';

export const NOW_MS = 1_790_000_000_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const LEASE_MS = 30_000;
export const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

export const SUCCESS: Verdict = {
  kind: 'success',
  responseStatus: 200,
  latencyMs: 12,
  error: null,
  responseBody: null,
  terminalHint: false,
  retryAfterMs: null,
};
export const FAILURE: Verdict = {
  ...SUCCESS,
  kind: 'failure',
  responseStatus: 500,
  error: 'HTTP 500',
  responseBody: 'out of order ✓',
};
export const GONE: Verdict = { ...FAILURE, kind: 'gone', responseStatus: 410, error: 'HTTP 410' };
export const SENDER_FAULT: Verdict = {
  ...FAILURE,
  kind: 'sender_fault',
  responseStatus: null,
  error: 'connect_failed',
};

export type Harness = {
  readonly store: Store;
  readonly subject: Subject;
  readonly organizationId: string;
  readonly organizationNumber: number;
  addEndpoint(changes?: Partial<EndpointRecord>): Promise<DispatchEndpoint>;
  /** Changes an endpoint as a PATCH does. */
  patch(id: string, changes: Partial<EndpointRecord>, clearsStreak?: boolean): Promise<DispatchEndpoint>;
  commit(parts: Partial<ManagementChange>): Promise<'stored' | 'stale' | 'key_taken'>;
  read(id: string): Promise<DispatchEndpoint>;
  /** Adds events; resolves to their log entries. */
  emit(count: number): Promise<readonly LogEntry[]>;
  apply(work: readonly WorkItem[], at?: Partial<ApplyOptions>): Promise<readonly WorkOutcome[]>;
  /** Applies one work item, which must claim a delivery. */
  claim(work: WorkItem, atMs?: number): Promise<ClaimedDelivery>;
  /** Sends these entries as one batch. */
  send(endpoint: DispatchEndpoint, entries: readonly LogEntry[], atMs?: number): Promise<ClaimedDelivery>;
  finish(endpoint: Endpoint, claimed: ClaimedDelivery, verdict: Verdict, atMs?: number): Promise<WorkOutcome>;
  take(endpoint: Endpoint, delivery: Pick<Delivery, 'number' | 'fence'>, atMs?: number): Promise<WorkOutcome>;
  delivery(endpoint: Endpoint, dispatchId: string): Promise<Delivery>;
};

export function withHarness(open: OpenSubject, body: (harness: Harness) => Promise<void>): () => Promise<void> {
  return withStore(open, async (store, subject) => {
    const { organization } = await found(store);
    await body(createHarness(store, subject, organization.id));
  });
}

function createHarness(store: Store, subject: Subject, organizationId: string): Harness {
  const organizationNumber = 1;
  const harness: Harness = {
    store,
    subject,
    organizationId,
    organizationNumber,
    async addEndpoint(changes = {}) {
      const record = sampleEndpoint({ organizationId, ...changes });
      const added: EndpointChange = { record, expectedVersion: 0, clearsStreak: false };
      await change(store, organizationId, { endpoints: [added] });
      return await harness.read(record.id);
    },
    async patch(id, changes, clearsStreak = false) {
      const endpoint = await harness.read(id);
      const record = { ...recordOf(endpoint), ...changes };
      await change(store, organizationId, { endpoints: [{ record, expectedVersion: endpoint.version, clearsStreak }] });
      return await harness.read(id);
    },
    async commit(parts) {
      const expectedVersion = await store.management.version(organizationId);
      return await store.management.commit({ organizationId, expectedVersion, audit: [], ...parts });
    },
    async read(id) {
      const { endpoints } = await store.deliveries.changes(-1);
      const endpoint = endpoints.find((each) => each.id === id);
      if (endpoint === undefined) throw new Error(`there is no endpoint ${id}`);
      return endpoint;
    },
    async emit(count) {
      const afterSeq = await headOf(store, organizationNumber);
      for (let index = 0; index < count; index += 1) {
        const requests = [sampleRequest({ gatewayRequestId: `gw-${randomHex(12)}` })];
        await store.traces.append(sampleAppend({ organizationId, organizationNumber, requests }));
      }
      return await store.deliveries.events(organizationNumber, { afterSeq, limit: count });
    },
    apply: (work, at = {}) => store.deliveries.apply(work, { nowMs: NOW_MS, attemptsPerHourMax: null, ...at }),
    async claim(work, atMs = NOW_MS) {
      const [outcome] = await harness.apply([work], { nowMs: atMs });
      if (outcome?.kind !== 'claimed' || outcome.claimed === null)
        throw new Error(`it was not claimed: ${say(outcome)}`);
      return outcome.claimed;
    },
    send: (endpoint, entries, atMs = NOW_MS) => harness.claim(cutOf(endpoint, [batchOf(endpoint, entries)]), atMs),
    async finish(endpoint, claimed, verdict, atMs = NOW_MS) {
      return only(await harness.apply([finishOf(endpoint, claimed, verdict)], { nowMs: atMs }));
    },
    async take(endpoint, delivery, atMs = NOW_MS) {
      return only(await harness.apply([takeOf(endpoint, delivery)], { nowMs: atMs }));
    },
    async delivery(endpoint, dispatchId) {
      const delivery = await store.webhooks.delivery(endpoint.number, dispatchId);
      if (delivery === null) throw new Error(`there is no delivery ${dispatchId}`);
      return delivery;
    },
  };
  return harness;
}

function say(outcome: WorkOutcome | undefined): string {
  return JSON.stringify(outcome);
}

export function only(outcomes: readonly WorkOutcome[]): WorkOutcome {
  const [outcome] = outcomes;
  if (outcome === undefined || outcomes.length !== 1) throw new Error('there is not exactly one outcome');
  return outcome;
}

/** The reason of a refusal, or the kind of another outcome. */
export function reasonOf(outcome: WorkOutcome): string {
  return outcome.kind === 'refused' ? outcome.reason : outcome.kind;
}

export async function headOf(store: Store, organizationNumber: number): Promise<number> {
  const [head] = await store.deliveries.heads([organizationNumber]);
  return head?.seq ?? 0;
}

export function sampleEndpoint(changes: Partial<EndpointRecord> = {}): EndpointRecord {
  return {
    organizationId: 'organization_1',
    id: `webhookendpoint_${randomHex(28)}`,
    destinationKind: 'http',
    url: 'https://receiver.example/hooks?a=b#c',
    sqs: null,
    enabledEvents: ['*', 'gateway.request.*', '*'],
    status: 'active',
    disabledReason: null,
    disabledAtMs: null,
    maxBatchSize: 100,
    maxBatchDelayMs: 250,
    maxInFlight: 4,
    description: "it's one",
    secret: randomBytes(78),
    previousSecret: null,
    previousSecretUntilMs: null,
    destinationVersion: 1,
    run: 1,
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
    archivedAtMs: null,
    ...changes,
  };
}

/** The fields that the owner controls. */
export function recordOf(endpoint: Endpoint): EndpointRecord {
  const { organizationId, id, destinationKind, url, sqs, enabledEvents, status, disabledReason, disabledAtMs } =
    endpoint;
  const { maxBatchSize, maxBatchDelayMs, maxInFlight, description, secret, previousSecret } = endpoint;
  const { previousSecretUntilMs, destinationVersion, run, createdAtMs, updatedAtMs, archivedAtMs } = endpoint;
  return {
    ...{ organizationId, id, destinationKind, url, sqs, enabledEvents, status, disabledReason, disabledAtMs },
    ...{ maxBatchSize, maxBatchDelayMs, maxInFlight, description, secret, previousSecret },
    ...{ previousSecretUntilMs, destinationVersion, run, createdAtMs, updatedAtMs, archivedAtMs },
  };
}

export const LIVE: DeliverySource = { kind: 'live' };

export function batchOf(endpoint: Endpoint, entries: readonly LogEntry[], changes: Partial<NewBatch> = {}): NewBatch {
  const created = entries.map(({ createdAtMs }) => createdAtMs);
  return {
    dispatchId: `${endpoint.id}:${randomHex(16)}`,
    attemptId: randomUUID(),
    seqs: entries.map(({ seq }) => seq),
    eventIds: entries.map(({ id }) => id),
    created: { firstMs: Math.min(...created), lastMs: Math.max(...created) },
    disposition: 'send',
    error: null,
    ...changes,
  };
}

/** Advances the live source to the last of the events. */
export function cutOf(
  endpoint: DispatchEndpoint,
  batches: readonly NewBatch[],
  changes: Partial<Extract<WorkItem, { kind: 'advance' }>> = {},
): Extract<WorkItem, { kind: 'advance' }> {
  return {
    kind: 'advance',
    endpointNumber: endpoint.number,
    version: endpoint.version,
    source: LIVE,
    fromPosition: endpoint.position,
    toPosition: Math.max(endpoint.position, ...batches.flatMap(({ seqs }) => seqs)),
    batches,
    leaseMs: LEASE_MS,
    ...changes,
  };
}

export function takeOf(endpoint: Endpoint, { number, fence }: Pick<Delivery, 'number' | 'fence'>): WorkItem {
  return {
    kind: 'claim',
    endpointNumber: endpoint.number,
    version: endpoint.version,
    number,
    fence,
    attemptId: randomUUID(),
    leaseMs: LEASE_MS,
  };
}

/** The random number 0.5 gives backoff delays without jitter. */
export function finishOf(
  endpoint: Endpoint,
  { number, fence }: Pick<ClaimedDelivery, 'number' | 'fence'>,
  verdict: Verdict,
): WorkItem {
  const { destinationVersion } = endpoint;
  return { kind: 'finish', endpointNumber: endpoint.number, number, fence, verdict, destinationVersion, random: 0.5 };
}

export function loseOf(endpoint: Endpoint, { number, fence }: Pick<ClaimedDelivery, 'number' | 'fence'>): WorkItem {
  return { kind: 'lose', endpointNumber: endpoint.number, number, fence, random: 0.5 };
}

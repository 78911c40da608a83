/** An organization with webhook endpoints and the rules of them, in memory. */

import { randomBytes } from 'node:crypto';
import { createCursorCodec } from '../../../src/domain/cursor.ts';
import type { Delivery } from '../../../src/domain/delivery/delivery.ts';
import type { AttemptResult } from '../../../src/domain/endpoints/destination.ts';
import type { Endpoint } from '../../../src/domain/endpoints/endpoint.ts';
import type { TestMessage } from '../../../src/domain/endpoints/endpoint-deps.ts';
import type { EndpointDraft } from '../../../src/domain/endpoints/endpoint-draft.ts';
import { createEndpointSecrets } from '../../../src/domain/endpoints/endpoint-secrets.ts';
import type { SecretEndpoint } from '../../../src/domain/endpoints/endpoint-view.ts';
import { createEndpoints } from '../../../src/domain/endpoints/endpoints.ts';
import { parseAllowList } from '../../../src/domain/endpoints/url-allow-list.ts';
import { createUrlPolicy } from '../../../src/domain/endpoints/url-policy.ts';
import { createFakeWebhookStore } from '../../support/webhook-store.ts';
import { createFixture, NOW_MS } from '../keys/keys-fixture.ts';

export const QUEUE_URL = 'https://sqs.eu-west-1.amazonaws.com/123456789012/events';
export const ROLE = 'arn:aws:iam::123456789012:role/sender';
export const HTTP: EndpointDraft = { url: 'https://hooks.example.com/in', enabledEvents: ['*'] };
export const SQS: EndpointDraft = {
  destinationKind: 'sqs',
  sqs: { queueUrl: QUEUE_URL, roleArn: ROLE },
  enabledEvents: ['*'],
};

export const ACCEPTED: AttemptResult = {
  kind: 'accepted',
  latencyMs: 12.4,
  responseStatus: 200,
  responseText: 'thanks',
};
export const REFUSED: Extract<AttemptResult, { kind: 'refused' }> = {
  kind: 'refused',
  latencyMs: 3.6,
  responseStatus: 500,
  error: 'HTTP 500',
  terminalHint: false,
  responseText: 'no\0pe',
  retryAfterMs: 1_000,
  isGone: false,
  isSenderFault: false,
};

export type EndpointsFixture = Awaited<ReturnType<typeof createEndpointsFixture>>;

export type FixtureOptions = {
  readonly isAmbientAllowed?: boolean;
  readonly endpointsMax?: number;
  readonly allow?: string;
  /** The addresses of every host; none: it has no answer. */
  readonly addresses?: readonly string[];
};

export async function createEndpointsFixture(options: FixtureOptions = {}) {
  const { isAmbientAllowed = false, endpointsMax = 10, allow = '', addresses = ['93.184.216.34'] } = options;
  const keys = createFixture();
  const fake = createFakeWebhookStore(keys.store);
  const secrets = createEndpointSecrets({ encryptionKeys: [Buffer.alloc(32, 7)], random: randomBytes });
  const list = parseAllowList(allow);
  const fired: { endpoint: Endpoint; test: TestMessage }[] = [];
  const lost: unknown[] = [];
  const resolved: string[] = [];
  const receiver = { result: ACCEPTED };
  let nowMs = NOW_MS;
  const endpoints = createEndpoints({
    store: fake.management,
    webhooks: fake.webhooks,
    webhookLog: fake.webhookLog,
    random: randomBytes,
    clock: () => nowMs,
    cursors: createCursorCodec(Buffer.alloc(32, 1)),
    secrets,
    urlPolicy: createUrlPolicy(list.kind === 'entries' ? list.entries : []),
    async resolve(host) {
      resolved.push(host);
      if (addresses.length === 0) throw new Error('no answer');
      return addresses;
    },
    queues: { service: { endpoint: null, region: 'us-east-1' }, isAmbientAllowed },
    endpointsMax,
    async sendTest(endpoint, test) {
      fired.push({ endpoint, test });
      return receiver.result;
    },
    onTestUnrecorded: (error) => lost.push(error),
  });
  const call = async () => ({ ...(await keys.callWith(keys.callers.PA.id)), nowMs });
  const stored = (id: string): Endpoint => {
    const found = fake.endpoints.get(id);
    if (!found) throw new Error(`no endpoint ${id}`);
    return found;
  };
  return {
    ...fake,
    keys,
    endpoints,
    secrets,
    fired,
    lost,
    resolved,
    receiver,
    call,
    stored,
    now: () => nowMs,
    advance(byMs: number) {
      nowMs += byMs;
    },
    target: async (id: string) => ({ call: await call(), id }),
    create: async (draft: EndpointDraft = HTTP): Promise<SecretEndpoint> => endpoints.create(await call(), draft),
    update: async (id: string, draft: EndpointDraft) => endpoints.update({ call: await call(), id }, draft),
    roll: async (id: string, overlapSeconds = 86_400) =>
      endpoints.rollSecret({ call: await call(), id, overlapSeconds }),
    signing: (id: string, atMs = nowMs) => secrets.signing(stored(id), atMs),
    audit: () => keys.store.changes.flatMap(({ audit }) => audit),
  };
}

/** A delivery as it could be stored. */
export function deliveryOf(endpoint: Endpoint, more: Partial<Delivery> = {}): Delivery {
  return {
    number: 7,
    endpointNumber: endpoint.number,
    dispatchId: `${endpoint.id}:0123456789abcdef`,
    replayId: null,
    test: false,
    eventIds: ['req_1:completed'],
    eventsFromMs: NOW_MS - 10_000,
    status: 'dead',
    attempt: 11,
    failures: 11,
    lost: 0,
    backoffStartedAtMs: NOW_MS - 5_000,
    run: endpoint.run,
    fence: 11,
    dueAtMs: null,
    endedAtMs: NOW_MS - 1_000,
    deadReason: 'exhausted',
    createdAtMs: NOW_MS - 9_000,
    firstAttemptAtMs: NOW_MS - 5_000,
    lastAttemptAtMs: NOW_MS - 1_000,
    responseStatus: 500,
    error: 'HTTP 500',
    terminalHint: false,
    ...more,
  };
}

/** What webhooks go out by: the policy of urls, the resolver, and the one way in which attempts are made. */

import type { Config } from './config.ts';
import { createAttempt } from './delivery/attempt.ts';
import { createDelivery, type Delivery, type DeliveryDeps } from './delivery/delivery.ts';
import { createHttpSender } from './delivery/http.ts';
import type { SocketCounts } from './delivery/meter.ts';
import { createResolver } from './delivery/resolver.ts';
import { splitBatch } from './delivery/split.ts';
import { createSqsSender } from './delivery/sqs.ts';
import { createTestFire } from './delivery/test-fire.ts';
import type { Clock, RandomBytes } from './domain/clock.ts';
import type { Send } from './domain/destination.ts';
import type { EndpointDeps } from './domain/endpoint-deps.ts';
import { createEndpointSecrets } from './domain/endpoint-secrets.ts';
import type { RootKeys } from './domain/secrets.ts';
import { createUrlPolicy } from './domain/url-policy.ts';

export type WebhookPorts = Pick<EndpointDeps, 'secrets' | 'urlPolicy' | 'resolve' | 'queues' | 'fire'>;

export type Webhooks = {
  readonly ports: WebhookPorts;
  /** Begins to send what the log holds. */
  deliver(deps: Pick<DeliveryDeps, 'store' | 'meter' | 'log'>): Delivery;
  /** Of this process, by the kind of destination. */
  openSockets(): { readonly http: SocketCounts; readonly sqs: SocketCounts };
  /** Breaks off tests that are under way, and drops every connection. */
  close(): void;
};

export type WebhookDeps = {
  readonly config: Config;
  readonly rootKeys: RootKeys;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Told to receivers. */
  readonly version: string;
  readonly log: Pick<DeliveryDeps['log'], 'warn'>;
};

export function createWebhooks({ config, rootKeys, clock, random, version, log }: WebhookDeps): Webhooks {
  const { isAmbientAllowed, sqsEndpoint, stsEndpoint, region } = config.aws;
  const nowMs = () => performance.now();
  const policy = createUrlPolicy(config.webhooks.allow);
  const { resolve } = createResolver({ nowMs });
  const service = { endpoint: sqsEndpoint, region };
  const http = createHttpSender({ policy, resolve, nowMs, clock, userAgentVersion: version });
  const sqs = createSqsSender({ service, tokenEndpoint: stsEndpoint, isAmbientAllowed: () => isAmbientAllowed });
  const send: Send = (destination, message, signal) =>
    destination.kind === 'http' ? http.send(destination.url, message, signal) : sqs.send(destination, message, signal);
  const secrets = createEndpointSecrets({ encryptionKey: rootKeys.encryptionKey, random });
  const attempt = createAttempt({ secrets, send });
  const closing = new AbortController();
  return {
    ports: {
      secrets,
      urlPolicy: policy,
      resolve,
      queues: { service, isAmbientAllowed },
      fire: createTestFire({
        attempt,
        signal: closing.signal,
        onFault: (err, dispatchId) => log.warn({ err, dispatchId }, 'a test could not be made'),
      }),
    },
    deliver: (deps) =>
      createDelivery({
        ...deps,
        attempt,
        split: splitBatch,
        clock,
        random,
        concurrency: config.webhooks.concurrencyMax,
        attemptsPerHourMax: config.webhooks.attemptsPerHourMax,
      }),
    openSockets: () => ({ http: http.openSockets(), sqs: sqs.openSockets() }),
    close() {
      closing.abort();
      http.close();
      sqs.close();
    },
  };
}

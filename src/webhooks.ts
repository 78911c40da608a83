/** Assembles the sending of webhooks: URL policy, resolver, senders and attempts. */

import type { Config } from './config/config.ts';
import { createAttempt, createTestSender } from './delivery/attempt.ts';
import { createDelivery, type Delivery, type DeliveryDeps } from './delivery/delivery.ts';
import { createHttpSender } from './delivery/http.ts';
import type { SocketCounts } from './delivery/meter.ts';
import { splitBatch } from './delivery/queue-message.ts';
import { createResolver } from './delivery/resolver.ts';
import { createSqsSender } from './delivery/sqs.ts';
import type { Clock, RandomBytes } from './domain/clock.ts';
import type { Send } from './domain/endpoints/destination.ts';
import type { EndpointDeps } from './domain/endpoints/endpoint-deps.ts';
import { createEndpointSecrets } from './domain/endpoints/endpoint-secrets.ts';
import { createUrlPolicy } from './domain/endpoints/url-policy.ts';
import type { RootKeys } from './domain/secrets.ts';

export type WebhookPorts = Pick<EndpointDeps, 'secrets' | 'urlPolicy' | 'resolve' | 'queues' | 'sendTest'>;

type Webhooks = {
  readonly ports: WebhookPorts;
  /** Starts to deliver the events of the log. */
  deliver(deps: Pick<DeliveryDeps, 'store' | 'meter' | 'log'>): Delivery;
  /** Of this process, by kind of destination. */
  openSockets(): { readonly http: SocketCounts; readonly sqs: SocketCounts };
  /** Aborts tests in progress and closes every connection. */
  close(): void;
};

type WebhookDeps = {
  readonly config: Config;
  readonly rootKeys: RootKeys;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Sent to receivers in the User-Agent. */
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
      sendTest: createTestSender({
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

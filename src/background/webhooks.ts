/** Assembles the sending of webhooks: URL policy, resolver, senders and attempts. */

import type { Deps } from '../app/deps.ts';
import { createAttempt, createTestSender } from '../delivery/attempt.ts';
import { createDelivery, type DeliveryDeps } from '../delivery/delivery.ts';
import { createHttpSender } from '../delivery/http.ts';
import { splitBatch } from '../delivery/queue-message.ts';
import { createResolver } from '../delivery/resolver.ts';
import { createSqsSender } from '../delivery/sqs.ts';
import type { Send } from '../domain/endpoints/destination.ts';
import type { EndpointDeps } from '../domain/endpoints/endpoint-deps.ts';
import { createEndpointSecrets } from '../domain/endpoints/endpoint-secrets.ts';
import { createUrlPolicy } from '../domain/endpoints/url-policy.ts';

export type WebhookPorts = Pick<EndpointDeps, 'secrets' | 'urlPolicy' | 'resolve' | 'queues' | 'sendTest'>;

type WebhookDeps = Pick<Deps, 'config' | 'rootKeys' | 'clock' | 'random' | 'log'> & {
  /** Sent to receivers in the User-Agent. */
  readonly version: string;
};

export function createWebhooks({ config, rootKeys, clock, random, version, log }: WebhookDeps) {
  const { isAmbientAllowed, sqsEndpoint, stsEndpoint, region } = config.aws;
  const nowMs = () => performance.now();
  const policy = createUrlPolicy(config.webhooks.allow);
  const { resolve } = createResolver({ nowMs });
  const service = { endpoint: sqsEndpoint, region };
  const http = createHttpSender({ policy, resolve, nowMs, clock, userAgentVersion: version });
  const sqs = createSqsSender({ service, tokenEndpoint: stsEndpoint, isAmbientAllowed: () => isAmbientAllowed });
  const send: Send = (destination, message, signal) =>
    destination.kind === 'http' ? http.send(destination.url, message, signal) : sqs.send(destination, message, signal);
  const secrets = createEndpointSecrets({ encryptionKeys: rootKeys.encryptionKeys, random });
  const attempt = createAttempt({ secrets, send });
  const closing = new AbortController();
  const sendTest = createTestSender({
    attempt,
    signal: closing.signal,
    onFault: (err, dispatchId) => log.warn({ err, dispatchId }, 'a test could not be made'),
  });
  const ports: WebhookPorts = { secrets, urlPolicy: policy, resolve, queues: { service, isAmbientAllowed }, sendTest };
  return {
    ports,
    /** Starts to deliver the events of the log. */
    deliver: (deps: Pick<DeliveryDeps, 'store' | 'retentionNowMs' | 'meter' | 'log'>) =>
      createDelivery({
        ...deps,
        attempt,
        split: splitBatch,
        clock,
        random,
        concurrency: config.webhooks.concurrencyMax,
        attemptsPerHourMax: config.webhooks.attemptsPerHourMax,
      }),
    /** Posts JSON of other kinds to URLs that the same policy allows. */
    sendJson: http.sendJson,
    /** Of this process, by kind of destination. */
    openSockets: () => ({ http: http.openSockets(), sqs: sqs.openSockets() }),
    /** Aborts tests in progress and closes every connection. */
    close(): void {
      closing.abort();
      http.close();
      sqs.close();
    },
  };
}

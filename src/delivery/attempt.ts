/** Makes one attempt: signs the message with the current secrets and sends it. */

import type { AttemptResult, Destination, Send, Signatures } from '../domain/endpoints/destination.ts';
import type { Endpoint } from '../domain/endpoints/endpoint.ts';
import type { SendTest } from '../domain/endpoints/endpoint-deps.ts';
import { type EndpointSecrets, overlappingSecret } from '../domain/endpoints/endpoint-secrets.ts';
import { openWebhookSecret, type SigningSecret, signMessage } from '../domain/endpoints/webhook-signature.ts';
import { SENDER_LOST, toFailed } from './failure.ts';

type AttemptDeps = {
  readonly secrets: Pick<EndpointSecrets, 'signing' | 'destination'>;
  readonly send: Send;
};

type AttemptRequest = {
  readonly endpoint: Endpoint;
  readonly dispatchId: string;
  readonly attempt: number;
  /** As stored. */
  readonly envelopes: readonly string[];
  readonly test: boolean;
  readonly nowMs: number;
};

export type MakeAttempt = (order: AttemptRequest, signal: AbortSignal) => Promise<AttemptResult>;

/** The result throws only when a secret cannot be opened. */
export function createAttempt({ secrets, send }: AttemptDeps): MakeAttempt {
  const open = cacheOpened(secrets);
  return async (order, signal) => {
    const { signing, destination } = open(order.endpoint, order.nowMs);
    return await send(destination, compose(order, signing), signal);
  };
}

/** Builds body and signatures on first use: most attempts at an unreachable receiver need neither. */
function compose({ dispatchId, attempt, envelopes, test, nowMs }: AttemptRequest, secrets: readonly SigningSecret[]) {
  const timestamp = Math.floor(nowMs / 1000);
  let body: Buffer | null = null;
  let signatures: Signatures | null = null;
  return {
    dispatchId,
    attempt,
    timestamp,
    test,
    get body() {
      body ??= bodyOf(envelopes);
      return body;
    },
    get signatures() {
      signatures ??= signMessage({ secrets, dispatchId, timestamp, body: this.body });
      return signatures;
    },
  };
}

type Opened = {
  readonly signing: readonly SigningSecret[];
  readonly destination: Destination;
  readonly overlaps: boolean;
};

/** Caches opened secrets, because opening costs as much as signing. A changed endpoint is another object. */
function cacheOpened(secrets: AttemptDeps['secrets']): (endpoint: Endpoint, nowMs: number) => Opened {
  const kept = new WeakMap<Endpoint, Opened>();
  return (endpoint, nowMs) => {
    const overlaps = overlappingSecret(endpoint, nowMs) !== null;
    const cached = kept.get(endpoint);
    if (cached !== undefined && cached.overlaps === overlaps) return cached;
    const signing = secrets.signing(endpoint, nowMs).map(openWebhookSecret);
    const opened = { signing, destination: secrets.destination(endpoint), overlaps };
    kept.set(endpoint, opened);
    return opened;
  };
}

/** The same bytes for every attempt, built from the envelopes as stored. */
function bodyOf(envelopes: readonly string[]): Buffer {
  return Buffer.from(`{"batch":[${envelopes.join(',')}]}`, 'utf8');
}

type TestSenderDeps = {
  readonly attempt: MakeAttempt;
  /** Aborts the tests in progress. */
  readonly signal: AbortSignal;
  /** Called when a test could not be sent because of an error of this process. */
  readonly onFault: (error: unknown, dispatchId: string) => void;
};

export function createTestSender({ attempt, signal, onFault }: TestSenderDeps): SendTest {
  return async (endpoint, { dispatchId, envelope, nowMs }) => {
    try {
      return await attempt({ endpoint, dispatchId, attempt: 1, envelopes: [envelope], test: true, nowMs }, signal);
    } catch (error) {
      onFault(error, dispatchId);
      return toFailed(SENDER_LOST, 0);
    }
  };
}

/** One attempt: signs what is sent with the secrets of this moment, sends it, and says what came of it. */

import type { AttemptResult, Destination, Send, Signatures } from '../domain/destination.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { type EndpointSecrets, overlappingSecret } from '../domain/endpoint-secrets.ts';
import { openWebhookSecret, type SigningSecret, signMessage } from '../domain/webhook-signature.ts';
import { bodyOf } from './batch.ts';

export type AttemptDeps = {
  readonly secrets: Pick<EndpointSecrets, 'signing' | 'destination'>;
  readonly send: Send;
};

export type AttemptOrder = {
  readonly endpoint: Endpoint;
  readonly dispatchId: string;
  readonly attempt: number;
  /** As they are stored. */
  readonly envelopes: readonly string[];
  readonly test: boolean;
  readonly nowMs: number;
};

export type MakeAttempt = (order: AttemptOrder, signal: AbortSignal) => Promise<AttemptResult>;

/** Throws only when a secret cannot be opened. */
export function createAttempt({ secrets, send }: AttemptDeps): MakeAttempt {
  const open = keepOpened(secrets);
  return async (order, signal) => {
    const { signing, destination } = open(order.endpoint, order.nowMs);
    return await send(destination, compose(order, signing), signal);
  };
}

/** Body and signatures are made when they are asked for: most attempts at a dead receiver never get that far. */
function compose({ dispatchId, attempt, envelopes, test, nowMs }: AttemptOrder, secrets: readonly SigningSecret[]) {
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

/** Opening costs as much as signing; an endpoint that changes is another object. */
function keepOpened(secrets: AttemptDeps['secrets']): (endpoint: Endpoint, nowMs: number) => Opened {
  const kept = new WeakMap<Endpoint, Opened>();
  return (endpoint, nowMs) => {
    const overlaps = overlappingSecret(endpoint, nowMs) !== null;
    const known = kept.get(endpoint);
    if (known !== undefined && known.overlaps === overlaps) return known;
    const signing = secrets.signing(endpoint, nowMs).map(openWebhookSecret);
    const opened = { signing, destination: secrets.destination(endpoint), overlaps };
    kept.set(endpoint, opened);
    return opened;
  };
}

/** An attempt that says nothing about the receiver. */
export function ourFault(): AttemptResult {
  return {
    kind: 'refused',
    latencyMs: 0,
    responseStatus: null,
    error: 'sender_lost',
    terminalHint: false,
    responseText: null,
    retryAfterMs: null,
    isGone: false,
    isOurs: true,
  };
}

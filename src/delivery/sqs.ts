/** Sends batches to Amazon SQS queues. */

import type { AttemptResult, Destination, OutgoingMessage, SqsCredentials } from '../domain/endpoints/destination.ts';
import { checkQueueUrl, type QueueService } from '../domain/endpoints/queue-url.ts';
import type { SocketCounts } from './meter.ts';
import {
  ATTRIBUTE_TYPE,
  attributesOf,
  QUEUE_MESSAGE_MAX_BYTES,
  sizeOfMessage,
  tooLargeError,
} from './queue-message.ts';
import { createClientPool, type PooledClient, type SqsLimits } from './sqs-clients.ts';
import { describeRefusal, isCredentialFault, policyRefusal, type QueueRefusal } from './sqs-refusal.ts';

export type QueueDestination = Extract<Destination, { kind: 'sqs' }>;

export type SqsDeps = {
  readonly service: QueueService;
  /** The operator's own token service; null: that of AWS. */
  readonly tokenEndpoint: string | null;
  /** Whether the credentials of this process may be used. Called before every attempt that would use them. */
  readonly isAmbientAllowed: () => boolean;
  readonly limits?: Partial<SqsLimits>;
};

export type SqsSender = {
  /** Makes one attempt. Never rejects, and ends within the deadline for any service. */
  send(destination: QueueDestination, message: OutgoingMessage, signal: AbortSignal): Promise<AttemptResult>;
  openSockets(): SocketCounts;
  /** Drops all clients and connections; attempts in progress fail. */
  close(): void;
};

type Outcome = { readonly kind: 'accepted'; readonly messageId: string } | QueueRefusal;

const LIMITS: SqsLimits = { deadlineMs: 10_000, connectMs: 5_000, clientsMax: 500 };

const TIMEOUT: QueueRefusal = { kind: 'refused', error: 'timeout', terminalHint: false, isSenderFault: false };
/** The process stops, which says nothing about the queue. */
const STOPPED: QueueRefusal = { kind: 'refused', error: 'sender_lost', terminalHint: false, isSenderFault: true };

export function createSqsSender(deps: SqsDeps): SqsSender {
  const limits = { ...LIMITS, ...deps.limits };
  const pool = createClientPool({ tokenEndpoint: deps.tokenEndpoint, limits });

  async function attempt(
    { queueUrl, credentials }: QueueDestination,
    message: OutgoingMessage,
    ended: AbortSignal,
  ): Promise<Outcome> {
    // Checked again, because the operator may have changed what is allowed since the endpoint was saved.
    const verdict = checkQueueUrl(queueUrl, deps.service);
    if (verdict.kind === 'problem') return policyRefusal('InvalidAddress', verdict.problem);
    if (needsAmbient(credentials) && !deps.isAmbientAllowed()) {
      return policyRefusal(
        'AmbientCredentialsRefused',
        'The credentials of this server are not allowed: add a key pair, or start it with SPANDREL_ALLOW_AMBIENT_AWS=1.',
      );
    }
    const tooLarge = checkSize(message);
    if (tooLarge !== null) return tooLarge;
    const pooled = await untilAborted(pool.acquire(verdict.queue, credentials), ended);
    try {
      return await untilAborted(sendOnce(pooled, message, ended), ended);
    } catch (error) {
      if (isCredentialFault(error)) pooled.drop();
      return describeRefusal(error, pooled.hidden());
    }
  }

  return {
    async send(destination, message, signal) {
      const startedMs = performance.now();
      const outcome = await withinDeadline({ deadlineMs: limits.deadlineMs, signal }, (ended) =>
        attempt(destination, message, ended),
      );
      return toResult(outcome, Math.round(performance.now() - startedMs));
    },
    openSockets: pool.openSockets,
    close: pool.close,
  };
}

/** A user may redeliver a batch that was too large; the service has no part in the refusal. */
function checkSize({ dispatchId, body, test }: OutgoingMessage): QueueRefusal | null {
  const sizeBytes = sizeOfMessage({ dispatchId, bodyBytes: body.length, test });
  if (sizeBytes <= QUEUE_MESSAGE_MAX_BYTES) return null;
  return { kind: 'refused', error: tooLargeError(sizeBytes), terminalHint: false, isSenderFault: true };
}

function needsAmbient(credentials: SqsCredentials): boolean {
  return credentials.mode === 'ambient' || (credentials.mode === 'assume_role' && credentials.base === null);
}

async function sendOnce(
  { sdk, client, queueUrl }: PooledClient,
  message: OutgoingMessage,
  ended: AbortSignal,
): Promise<Outcome> {
  const command = new sdk.SendMessageCommand({
    QueueUrl: queueUrl,
    MessageBody: message.body.toString('utf8'),
    MessageAttributes: Object.fromEntries(
      attributesOf(message).map(([name, value]) => [name, { DataType: ATTRIBUTE_TYPE, StringValue: value }]),
    ),
  });
  const { MessageId } = await client.send(command, { abortSignal: ended });
  return { kind: 'accepted', messageId: MessageId ?? '' };
}

type Ending = { readonly deadlineMs: number; readonly signal: AbortSignal };

/** Runs the work with a signal that aborts at the deadline or with the caller's signal. */
async function withinDeadline(
  { deadlineMs, signal }: Ending,
  work: (ended: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  if (signal.aborted) return STOPPED;
  const controller = new AbortController();
  let ending: Outcome = TIMEOUT;
  const stop = () => {
    ending = STOPPED;
    controller.abort();
  };
  const timer = setTimeout(() => controller.abort(), deadlineMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const outcome = await work(controller.signal);
    return outcome.kind === 'refused' && controller.signal.aborted ? ending : outcome;
  } catch (error) {
    return controller.signal.aborted ? ending : describeRefusal(error, []);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Some steps ignore the signal, such as fetching credentials. */
function untilAborted<T>(work: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(new Error('the attempt has ended'));
    if (ended.aborted) abandon();
    ended.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(() => ended.removeEventListener('abort', abandon));
  });
}

function toResult(outcome: Outcome, latencyMs: number): AttemptResult {
  if (outcome.kind === 'accepted') {
    return { kind: 'accepted', latencyMs, responseStatus: null, responseText: outcome.messageId };
  }
  return { ...outcome, latencyMs, responseStatus: null, responseText: null, retryAfterMs: null, isGone: false };
}

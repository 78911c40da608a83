/** Sends batches to Amazon SQS queues. */

import type { AttemptResult, Destination, OutgoingMessage, SqsCredentials } from '../domain/endpoints/destination.ts';
import { checkQueueUrl, type QueueService } from '../domain/endpoints/queue-url.ts';
import { createStop } from './attempt-stop.ts';
import { type Failure, failure, toFailed } from './failure.ts';
import {
  ATTRIBUTE_TYPE,
  attributesOf,
  QUEUE_MESSAGE_MAX_BYTES,
  sizeOfMessage,
  tooLargeError,
} from './queue-message.ts';
import { createClientPool, type PooledClient, type SqsLimits } from './sqs-clients.ts';
import { describeRefusal, isCredentialFault, policyRefusal } from './sqs-refusal.ts';

export type QueueDestination = Extract<Destination, { kind: 'sqs' }>;

export type SqsDeps = {
  readonly service: QueueService;
  /** The operator's own token service; null: that of AWS. */
  readonly tokenEndpoint: string | null;
  /** Whether the credentials of this process may be used. Called before every attempt that would use them. */
  readonly isAmbientAllowed: () => boolean;
  readonly limits?: Partial<SqsLimits>;
};

export type SqsSender = ReturnType<typeof createSqsSender>;

type Outcome = { readonly kind: 'accepted'; readonly messageId: string } | Failure;

const LIMITS: SqsLimits = { deadlineMs: 10_000, connectMs: 5_000, clientsMax: 500 };

export function createSqsSender(deps: SqsDeps) {
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
    /** Makes one attempt. Never rejects, and ends within the deadline for any service. */
    async send(destination: QueueDestination, message: OutgoingMessage, signal: AbortSignal): Promise<AttemptResult> {
      const startedMs = performance.now();
      const ended = new AbortController();
      const stop = createStop(limits.deadlineMs, signal);
      stop.onStop(() => ended.abort());
      const outcome =
        stop.reason() ??
        (await attempt(destination, message, ended.signal).catch((error: unknown) => describeRefusal(error, [])));
      stop.end();
      const latencyMs = Math.round(performance.now() - startedMs);
      if (outcome.kind === 'refused') return toFailed(stop.reason() ?? outcome, latencyMs);
      return { kind: 'accepted', latencyMs, responseStatus: null, responseText: outcome.messageId };
    },
    openSockets: pool.openSockets,
    /** Drops all clients and connections; attempts in progress fail. */
    close: pool.close,
  };
}

/** The batch was cut for another destination, or is redelivered; the service has no part in the refusal. */
function checkSize({ dispatchId, body, test }: OutgoingMessage): Failure | null {
  const sizeBytes = sizeOfMessage({ dispatchId, bodyBytes: body.length, test });
  return sizeBytes <= QUEUE_MESSAGE_MAX_BYTES
    ? null
    : failure(tooLargeError(sizeBytes), { isSenderFault: true, isTooLarge: true });
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

/** Some steps ignore the signal, such as fetching credentials. */
function untilAborted<T>(work: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(new Error('the attempt has ended'));
    if (ended.aborted) abandon();
    ended.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(() => ended.removeEventListener('abort', abandon));
  });
}

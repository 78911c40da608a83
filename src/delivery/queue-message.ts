/** The attributes of queue messages, and how a batch too large for one message is divided. */

import type { OutgoingMessage } from '../domain/endpoints/destination.ts';
import type { SplitBatch } from './claims.ts';

export const QUEUE_MESSAGE_MAX_BYTES = 262_144;

/** The type of every attribute; its name counts toward the size of a message. */
export const ATTRIBUTE_TYPE = 'String';

/** The envelopes of a batch from `from` to before `to`, and the delivery that they become. */
type QueueMessage = {
  readonly dispatchId: string;
  readonly from: number;
  readonly to: number;
  readonly sizeBytes: number;
  /** A single envelope that exceeds the size of a message. */
  readonly isTooLarge: boolean;
};

/** What the size of a message depends on before it is sent. */
type Sizing = { readonly dispatchId: string; readonly bodyBytes: number; readonly test: boolean };

const FRAME_BYTES = '{"batch":[]}'.length;
const SEPARATOR_BYTES = ','.length;

/**
 * Placeholders for attributes that are unknown when a batch is made. Sizes assume the two signatures of an overlap and
 * an attempt number of two digits, so that a later attempt of the same body fits too.
 */
const TIMESTAMP = 1_000_000_000;
const STANDARD_SIGNATURE = `v1,${'0'.repeat(44)}`;
const LANGWATCH_SIGNATURE = `v1=${'0'.repeat(64)}`;
const PLACEHOLDERS = {
  attempt: 10,
  timestamp: TIMESTAMP,
  signatures: {
    standard: `${STANDARD_SIGNATURE} ${STANDARD_SIGNATURE}`,
    langwatch: `t=${TIMESTAMP},${LANGWATCH_SIGNATURE},${LANGWATCH_SIGNATURE}`,
  },
};

/** Names and values of the attributes: the same as the headers of a delivery over HTTP. */
export function attributesOf(message: Omit<OutgoingMessage, 'body'>): readonly (readonly [string, string])[] {
  const { dispatchId, attempt, timestamp, signatures, test } = message;
  return [
    ['webhook-id', dispatchId],
    ['webhook-timestamp', String(timestamp)],
    ['webhook-signature', signatures.standard],
    ['X-LangWatch-Delivery-Id', dispatchId],
    ['X-LangWatch-Delivery-Attempt', String(attempt)],
    ['X-LangWatch-Signature', signatures.langwatch],
    ...(test ? [['X-LangWatch-Test-Fire', 'true'] as const] : []),
  ];
}

/** The size of a message as the queue counts it, in bytes: the body, and name, type and value of every attribute. */
export function sizeOfMessage({ dispatchId, bodyBytes, test }: Sizing): number {
  return attributesOf({ ...PLACEHOLDERS, dispatchId, test })
    .flatMap(([name, value]) => [name, ATTRIBUTE_TYPE, value])
    .reduce((sum, text) => sum + Buffer.byteLength(text), bodyBytes);
}

/**
 * Divides a batch, in order, into messages with as many envelopes as fit. `envelopeBytes` has the size of each. A batch
 * that fits or has one envelope stays whole and keeps its id.
 */
export function splitForQueue(envelopeBytes: readonly number[], dispatchId: string): readonly QueueMessage[] {
  const whole = fill(envelopeBytes, { dispatchId, from: 0, sizeMaxBytes: Number.POSITIVE_INFINITY });
  if (whole.sizeBytes <= QUEUE_MESSAGE_MAX_BYTES || envelopeBytes.length === 1) return [whole];
  const parts: QueueMessage[] = [];
  for (let from = 0; from < envelopeBytes.length; from = parts.at(-1)?.to ?? envelopeBytes.length) {
    const partId = `${dispatchId}-${parts.length + 1}`;
    parts.push(fill(envelopeBytes, { dispatchId: partId, from, sizeMaxBytes: QUEUE_MESSAGE_MAX_BYTES }));
  }
  return parts;
}

/** Divides a batch for a queue. */
export const splitBatch: SplitBatch = ({ dispatchId, entries }) => {
  const bytes = entries.map(({ envelope }) => Buffer.byteLength(envelope));
  return splitForQueue(bytes, dispatchId).map((message) => ({
    dispatchId: message.dispatchId,
    entries: entries.slice(message.from, message.to),
    tooLarge: message.isTooLarge ? tooLargeError(message.sizeBytes) : null,
  }));
};

/** The error of a delivery that exceeds the size of a message. */
export function tooLargeError(sizeBytes: number): string {
  return `message too large: ${sizeBytes} bytes exceed ${QUEUE_MESSAGE_MAX_BYTES}`;
}

type Room = { readonly dispatchId: string; readonly from: number; readonly sizeMaxBytes: number };

/** A message has at least one envelope of any size, because every envelope must be in some message. */
function fill(envelopeBytes: readonly number[], { dispatchId, from, sizeMaxBytes }: Room): QueueMessage {
  const emptyBytes = sizeOfMessage({ dispatchId, bodyBytes: FRAME_BYTES, test: false });
  let sizeBytes = emptyBytes + (envelopeBytes[from] ?? 0);
  let to = from + 1;
  for (const bytes of envelopeBytes.slice(to)) {
    if (sizeBytes + SEPARATOR_BYTES + bytes > sizeMaxBytes) break;
    sizeBytes += SEPARATOR_BYTES + bytes;
    to += 1;
  }
  return { dispatchId, from, to, sizeBytes, isTooLarge: to === from + 1 && sizeBytes > QUEUE_MESSAGE_MAX_BYTES };
}

/** What a queue gets beside the body, and how a batch is divided that is too large for one message. */

import type { OutgoingMessage } from './destination.ts';

export const QUEUE_MESSAGE_MAX_BYTES = 262_144;

/** The type that every attribute has; its name counts toward the size of a message. */
export const ATTRIBUTE_TYPE = 'String';

/** Envelopes `from` to before `to` of a batch, and the delivery they become. */
export type QueuePart = {
  readonly dispatchId: string;
  readonly from: number;
  readonly to: number;
  readonly sizeBytes: number;
  /** A single envelope that no message can hold. */
  readonly isTooLarge: boolean;
};

/** Enough of a message to reckon with before it is sent. */
type Sizing = { readonly dispatchId: string; readonly bodyBytes: number; readonly test: boolean };

const FRAME_BYTES = '{"batch":[]}'.length;
const SEPARATOR_BYTES = ','.length;

/**
 * A stand-in for what is not known when a batch is cut. Sizes are reckoned with the two signatures of an overlap and
 * an attempt of two digits, so that a later attempt of the same body still fits.
 */
const TIMESTAMP = 1_000_000_000;
const STANDARD_SIGNATURE = `v1,${'0'.repeat(44)}`;
const LANGWATCH_SIGNATURE = `v1=${'0'.repeat(64)}`;
const RECKONED = {
  attempt: 10,
  timestamp: TIMESTAMP,
  signatures: {
    standard: `${STANDARD_SIGNATURE} ${STANDARD_SIGNATURE}`,
    langwatch: `t=${TIMESTAMP},${LANGWATCH_SIGNATURE},${LANGWATCH_SIGNATURE}`,
  },
};

/** Names and values of the attributes of a message: those of the headers of the same delivery over HTTP. */
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

/** Bytes of a message as the queue counts them: the body, and name, type and value of every attribute. */
export function sizeOfMessage({ dispatchId, bodyBytes, test }: Sizing): number {
  return attributesOf({ ...RECKONED, dispatchId, test })
    .flatMap(([name, value]) => [name, ATTRIBUTE_TYPE, value])
    .reduce((sum, text) => sum + Buffer.byteLength(text), bodyBytes);
}

/**
 * Divides a batch, in order, into messages that each take as many envelopes as they can hold. `envelopeBytes` has the
 * length of each. A batch that fits, and one of a single envelope, stays whole and keeps its id.
 */
export function splitForQueue(envelopeBytes: readonly number[], dispatchId: string): readonly QueuePart[] {
  const whole = fill(envelopeBytes, { dispatchId, from: 0, sizeMaxBytes: Number.POSITIVE_INFINITY });
  if (whole.sizeBytes <= QUEUE_MESSAGE_MAX_BYTES || envelopeBytes.length === 1) return [whole];
  const parts: QueuePart[] = [];
  for (let from = 0; from < envelopeBytes.length; from = parts.at(-1)?.to ?? envelopeBytes.length) {
    const partId = `${dispatchId}-${parts.length + 1}`;
    parts.push(fill(envelopeBytes, { dispatchId: partId, from, sizeMaxBytes: QUEUE_MESSAGE_MAX_BYTES }));
  }
  return parts;
}

/** The error of a delivery that is not sent because no message can hold it. */
export function tooLargeError(sizeBytes: number): string {
  return `message too large: ${sizeBytes} bytes exceed ${QUEUE_MESSAGE_MAX_BYTES}`;
}

type Room = { readonly dispatchId: string; readonly from: number; readonly sizeMaxBytes: number };

/** The first envelope is taken whatever its size: every envelope has to be in some part. */
function fill(envelopeBytes: readonly number[], { dispatchId, from, sizeMaxBytes }: Room): QueuePart {
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

/** Destinations of batches, the messages sent to them, and the results of attempts. */

export type Destination =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'sqs'; readonly queueUrl: string; readonly credentials: SqsCredentials };

export type KeyPair = { readonly accessKeyId: string; readonly secretAccessKey: string };

/**
 * `base`: the key pair that assumes the role; null: the credentials of this process, where the operator allows that.
 */
export type SqsCredentials =
  | {
      readonly mode: 'assume_role';
      readonly roleArn: string;
      readonly externalId: string | null;
      readonly base: KeyPair | null;
    }
  | ({ readonly mode: 'static' } & KeyPair)
  | { readonly mode: 'ambient' };

/** Both signatures of one body, computed again for every attempt. */
export type Signatures = {
  /** The header webhook-signature. */
  readonly standard: string;
  /** The header X-LangWatch-Signature. */
  readonly langwatch: string;
};

export type OutgoingMessage = {
  /** The id of the delivery, the same for all its attempts. */
  readonly dispatchId: string;
  /** From 1. */
  readonly attempt: number;
  /** Seconds since the Unix epoch, as in the signatures. */
  readonly timestamp: number;
  readonly signatures: Signatures;
  readonly body: Buffer;
  readonly test: boolean;
};

export type AttemptResult =
  | {
      readonly kind: 'accepted';
      /** From the start of the attempt to the end of the response headers. */
      readonly latencyMs: number;
      /** The HTTP status; null for queues. */
      readonly responseStatus: number | null;
      /** The first 1000 characters of the response, or the id that a queue gave the message. */
      readonly responseText: string;
    }
  | {
      readonly kind: 'refused';
      readonly latencyMs: number;
      /** Null without a response. */
      readonly responseStatus: number | null;
      /** One of the texts of the API contract, at most 500 characters, without addresses, headers or secrets. */
      readonly error: string;
      /** The failure seems permanent. The delivery is retried nevertheless. */
      readonly terminalHint: boolean;
      /** The first 1000 characters of the response; null without one. */
      readonly responseText: string | null;
      /** The shortest delay to the next attempt that the receiver asked for, at most an hour. */
      readonly retryAfterMs: number | null;
      /** HTTP 410: the receiver wants no further events. */
      readonly isGone: boolean;
      /** This process failed to make the attempt, which says nothing about the receiver. */
      readonly isSenderFault: boolean;
      /** The message is too large for the destination, now and later; it was not sent. */
      readonly isTooLarge?: true;
    };

/** The error of an attempt at a host without an address. */
export const UNRESOLVED_ERROR = 'dns_failed';

/** Makes one attempt. It never throws, and ends within the deadline of an attempt for any receiver. */
export type Send = (destination: Destination, message: OutgoingMessage, signal: AbortSignal) => Promise<AttemptResult>;

/** Where batches of events are sent, what is sent, and what became of it. */

export type Destination =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'sqs'; readonly queueUrl: string; readonly credentials: SqsCredentials };

export type KeyPair = { readonly accessKeyId: string; readonly secretAccessKey: string };

/** `base` is what the role is taken on with; null: whatever the process itself has, where the operator allows that. */
export type SqsCredentials =
  | {
      readonly mode: 'assume_role';
      readonly roleArn: string;
      readonly externalId: string | null;
      readonly base: KeyPair | null;
    }
  | ({ readonly mode: 'static' } & KeyPair)
  | { readonly mode: 'ambient' };

/** Both families of signatures over one body, made anew for every attempt. */
export type Signatures = {
  /** Value of webhook-signature. */
  readonly standard: string;
  /** Value of X-LangWatch-Signature. */
  readonly langwatch: string;
};

export type OutgoingMessage = {
  /** Of the delivery; the same for all its attempts. */
  readonly dispatchId: string;
  /** From 1. */
  readonly attempt: number;
  /** Seconds since the Unix epoch, as signed. */
  readonly timestamp: number;
  readonly signatures: Signatures;
  readonly body: Buffer;
  readonly test: boolean;
};

export type AttemptResult =
  | {
      readonly kind: 'accepted';
      /** Start of the attempt to the header block of the answer. */
      readonly latencyMs: number;
      /** The HTTP status; null for queues. */
      readonly responseStatus: number | null;
      /** The first 1000 characters of the answer, or the id that a queue gave the message. */
      readonly responseText: string;
    }
  | {
      readonly kind: 'refused';
      readonly latencyMs: number;
      /** Null when no answer came. */
      readonly responseStatus: number | null;
      /** One of the texts of the contract, at most 500 characters; no address, header or secret. */
      readonly error: string;
      /** Looks permanent. It is retried all the same. */
      readonly terminalHint: boolean;
      /** The first 1000 characters of the answer; null without one. */
      readonly responseText: string | null;
      /** A floor that the receiver set for the next attempt, at most an hour. */
      readonly retryAfterMs: number | null;
      /** HTTP 410: the receiver wants no more, ever. */
      readonly isGone: boolean;
      /** Our own fault, which says nothing about the receiver. */
      readonly isOurs: boolean;
    };

/** The error of an attempt whose host has no address. */
export const UNRESOLVED_ERROR = 'dns_failed';

/** Makes one attempt. It never throws, and ends within the deadline of an attempt whatever the receiver does. */
export type Send = (destination: Destination, message: OutgoingMessage, signal: AbortSignal) => Promise<AttemptResult>;

/** Webhook endpoints as they are stored. Instants are epoch milliseconds. */

import type { EventMask } from './event-type.ts';

export type EndpointStatus = 'active' | 'disabled';
export type DisabledReason = 'manual' | 'auto_failures_72h' | 'receiver_gone';

/** What its owner decides about an endpoint. Written whole. */
export type EndpointRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly destinationKind: 'http' | 'sqs';
  /** As it was sent; null when the destination is a queue. */
  readonly url: string | null;
  readonly sqs: SqsRecord | null;
  /** Selectors, as they were sent. */
  readonly enabledEvents: readonly string[];
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAtMs: number | null;
  readonly maxBatchSize: number;
  readonly maxBatchDelayMs: number;
  readonly maxInFlight: number;
  readonly description: string | null;
  /** Sealed; see endpoint-secrets.ts. Empty once the endpoint is archived. */
  readonly secret: Buffer;
  /** The one before a roll, which also signs until an instant; both null when there is none. */
  readonly previousSecret: Buffer | null;
  readonly previousSecretUntilMs: number | null;
  /** Moves on when the url or the queue changes: verdicts about an earlier one say nothing about this one. */
  readonly destinationVersion: number;
  /** Moves on when the endpoint is enabled again: what waited until then is due at once, with its ladder afresh. */
  readonly run: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Hidden and silent from then on, for ever. */
  readonly archivedAtMs: number | null;
};

export type SqsRecord = {
  readonly queueUrl: string;
  readonly roleArn: string | null;
  readonly externalId: string | null;
  readonly accessKeyId: string | null;
  /** Sealed. */
  readonly secretAccessKey: Buffer | null;
};

/** How an endpoint fares: moved by deliveries, and by its owner only where a new streak begins. */
export type EndpointStreak = {
  readonly failingSinceMs: number | null;
  readonly lastSuccessAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  readonly consecutiveFailures: number;
};

export type Endpoint = EndpointRecord &
  EndpointStreak & {
    /** Short; what rows about the endpoint carry. */
    readonly number: number;
    readonly organizationNumber: number;
    /** Moves on with every change of the record, those included that deliveries make (a disable). */
    readonly version: number;
  };

/** From a position in the log on, an endpoint gets these types. Ascending, without two of the same mask in a row. */
export type Subscription = { readonly fromSeq: number; readonly mask: EventMask };

/** A change of an endpoint as a management change holds it. */
export type EndpointChange = {
  readonly record: EndpointRecord;
  /** 0 for a new endpoint. */
  readonly expectedVersion: number;
  /** Whether failing_since and the failure counter begin anew. */
  readonly clearsStreak: boolean;
};

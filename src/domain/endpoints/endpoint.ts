/** Webhook endpoints as they are stored. Instants are epoch milliseconds. */

import type { EventMask } from '../events/event-type.ts';

export type EndpointStatus = 'active' | 'disabled';
export type DisabledReason = 'manual' | 'auto_failures_72h' | 'receiver_gone';

/** The fields of an endpoint that its owner controls, always written together. */
export type EndpointRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly destinationKind: 'http' | 'sqs';
  /** As the owner sent it; null when the destination is a queue. */
  readonly url: string | null;
  readonly sqs: SqsRecord | null;
  /** Selectors, as the owner sent them. */
  readonly enabledEvents: readonly string[];
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAtMs: number | null;
  readonly maxBatchSize: number;
  readonly maxBatchDelayMs: number;
  readonly maxInFlight: number;
  readonly description: string | null;
  /** Sealed, see endpoint-secrets.ts. Empty once the endpoint is archived. */
  readonly secret: Buffer;
  /** The secret before the last roll, which signs too until `previousSecretUntilMs`; both null when there is none. */
  readonly previousSecret: Buffer | null;
  readonly previousSecretUntilMs: number | null;
  /**
   * Increases when the url or the queue changes: results of attempts at an earlier one do not count for the new one.
   */
  readonly destinationVersion: number;
  /**
   * Increases when the endpoint is enabled again: deliveries that waited are due at once, and their backoff starts
   * again.
   */
  readonly run: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** From then on the endpoint is hidden and gets nothing. */
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

/** The streak of failures: deliveries update it, and the owner resets it by some changes. */
export type EndpointStreak = {
  readonly failingSinceMs: number | null;
  readonly lastSuccessAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  readonly consecutiveFailures: number;
};

export type Endpoint = EndpointRecord &
  EndpointStreak & {
    /** The short key that other rows refer to. */
    readonly number: number;
    readonly organizationNumber: number;
    /** Increases with every change of the record, also when a delivery disables the endpoint. */
    readonly version: number;
  };

/** With which credentials a queue is reached. */
export type CredentialMode = 'assume_role' | 'static' | 'ambient';

/**
 * The event types that an endpoint gets from a position of the log on. Lists are ascending, without the same mask twice
 * in a row.
 */
export type Subscription = { readonly fromSeq: number; readonly mask: EventMask };

/** The change of an endpoint as part of a management change. */
export type EndpointChange = {
  readonly record: EndpointRecord;
  /** 0 for a new endpoint. */
  readonly expectedVersion: number;
  /** Whether failing_since and the failure counter are reset. */
  readonly clearsStreak: boolean;
};

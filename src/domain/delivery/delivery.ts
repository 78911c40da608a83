/** Deliveries: batches of events sent to an endpoint, and the attempts to send each. Instants are epoch ms. */

import type { AttemptResult } from '../endpoints/destination.ts';
import { cutToCharacters } from '../text-limits.ts';

export type DeliveryStatus = 'queued' | 'sending' | 'retrying' | 'delivered' | 'dead' | 'cancelled';
export type DeadReason = 'exhausted' | 'receiver_gone' | 'too_large' | 'expired';

/** The state of a delivery that its rules (delivery-step.ts) read and write. */
export type DeliveryState = {
  readonly status: DeliveryStatus;
  /** Attempts started so far. */
  readonly attempt: number;
  /** Backoff steps taken since the backoff started. */
  readonly failures: number;
  /** Lost senders and sender faults in a row. */
  readonly lost: number;
  /** When the backoff started: at the first attempt; null before it. */
  readonly backoffStartedAtMs: number | null;
  /**
   * The run of the endpoint when this last changed. If it is below the endpoint's, the delivery is due and its backoff
   * starts again.
   */
  readonly run: number;
  /** Increases with every claim, takeover and redelivery: a result with an older fence is stale. */
  readonly fence: number;
  /** While waiting, when it is due; while sending, when the lease ends; null once it has ended. */
  readonly dueAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly deadReason: DeadReason | null;
};

/** A delivery as stored. The API shows one that waits for a disabled endpoint as `held`. */
export type Delivery = DeliveryState & {
  readonly number: number;
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly replayId: string | null;
  readonly test: boolean;
  readonly eventIds: readonly string[];
  /** When the oldest event was created. */
  readonly eventsFromMs: number;
  readonly createdAtMs: number;
  readonly firstAttemptAtMs: number | null;
  readonly lastAttemptAtMs: number | null;
} & NewestAttempt;

/** What a delivery stores of its newest attempt. */
type NewestAttempt = Pick<AttemptReport, 'responseStatus' | 'error' | 'terminalHint'>;

/** What an attempt has shown; all null while it runs. */
export type AttemptReport = {
  readonly responseStatus: number | null;
  readonly latencyMs: number | null;
  readonly error: string | null;
  /** The first 1000 characters of the answer of a receiver that refused. */
  readonly responseBody: string | null;
  readonly terminalHint: boolean;
};

export type AttemptOutcome = 'pending' | 'success' | 'retryable' | 'terminal';

/** One row of the delivery log. */
export type Attempt = AttemptReport & {
  readonly id: string;
  readonly dispatchId: string;
  readonly attempt: number;
  readonly eventIds: readonly string[];
  readonly outcome: AttemptOutcome;
  readonly firedAtMs: number;
  readonly test: boolean;
};

/** The result of an attempt as the store records it. */
export type Verdict = AttemptReport & {
  readonly kind: 'success' | 'failure' | 'gone' | 'sender_fault' | 'too_large';
  /** The shortest delay that the receiver asked for; null for none. */
  readonly retryAfterMs: number | null;
};

export type ReplayStatus = 'running' | 'completed' | 'cancelled';

/** Events of a time range that an endpoint gets again. The API shows one whose endpoint is disabled as `paused`. */
export type Replay = {
  readonly id: string;
  readonly endpointNumber: number;
  readonly status: ReplayStatus;
  readonly fromMs: number;
  readonly toMs: number;
  /** The selector of the request; null: all events of the endpoint. */
  readonly type: string | null;
  readonly matched: number;
  readonly enqueued: number;
  readonly delivered: number;
  readonly dead: number;
  readonly createdAtMs: number;
  readonly completedAtMs: number | null;
};

/** A new replay: the range of the log it reads, both ends included, and the event types it delivers. */
export type NewReplay = Pick<
  Replay,
  'id' | 'endpointNumber' | 'fromMs' | 'toMs' | 'type' | 'matched' | 'createdAtMs'
> & {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly mask: number;
};

const ERROR_CHARACTERS_MAX = 500;
const BODY_CHARACTERS_MAX = 1_000;

export function verdictOf(result: AttemptResult): Verdict {
  const { responseStatus } = result;
  const latencyMs = Math.round(result.latencyMs);
  if (result.kind === 'accepted') {
    const nothing = { error: null, responseBody: null, terminalHint: false, retryAfterMs: null };
    return { kind: 'success', responseStatus, latencyMs, ...nothing };
  }
  const { error, responseText, terminalHint, retryAfterMs } = result;
  const kind = kindOf(result);
  return {
    kind,
    responseStatus,
    // The time that this process took to fail would count as that of the receiver.
    latencyMs: isOwnFault({ kind }) ? null : latencyMs,
    error: cutToCharacters(error, ERROR_CHARACTERS_MAX),
    // PostgreSQL cannot store U+0000.
    responseBody:
      responseText === null ? null : cutToCharacters(responseText.replaceAll('\0', ''), BODY_CHARACTERS_MAX),
    terminalHint,
    retryAfterMs,
  };
}

/** Whether the receiver had no part in the failure, so that it says nothing about the endpoint. */
export function isOwnFault({ kind }: Pick<Verdict, 'kind'>): boolean {
  return kind === 'sender_fault' || kind === 'too_large';
}

function kindOf({ isSenderFault, isGone, isTooLarge }: Extract<AttemptResult, { kind: 'refused' }>): Verdict['kind'] {
  if (isTooLarge) return 'too_large';
  if (isSenderFault) return 'sender_fault';
  return isGone ? 'gone' : 'failure';
}

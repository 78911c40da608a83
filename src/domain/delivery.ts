/** Deliveries: batches of events on their way to an endpoint, and the attempts made for each. Instants are epoch ms. */

export type DeliveryStatus = 'queued' | 'sending' | 'retrying' | 'delivered' | 'dead' | 'cancelled';
export type DeadReason = 'exhausted' | 'receiver_gone' | 'too_large' | 'expired';

/** Where a delivery stands: what its rules (delivery-step.ts) read and write. */
export type DeliveryState = {
  readonly status: DeliveryStatus;
  /** Attempts begun so far. */
  readonly attempt: number;
  /** Rungs of the ladder used in this run of it. */
  readonly failures: number;
  /** Senders lost one after the other, up to now. */
  readonly lost: number;
  /** First attempt of this run of the ladder; null before it. */
  readonly ladderStartedAtMs: number | null;
  /** The run of the endpoint under which this was judged last; below the endpoint's own it is due, with its ladder afresh. */
  readonly run: number;
  /** Moves on with every claim, takeover and redelivery: a result that carries an older one is void. */
  readonly fence: number;
  /** While waiting, when it is due; while sending, when the lease ends; null once it has ended. */
  readonly dueAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly deadReason: DeadReason | null;
};

/** What is told of a delivery. `held` is said of one that waits for a disabled endpoint. */
export type Delivery = DeliveryState & {
  readonly number: number;
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly replayId: string | null;
  readonly test: boolean;
  readonly eventIds: readonly string[];
  /** When the oldest of its events was created. */
  readonly eventsFromMs: number;
  readonly createdAtMs: number;
  readonly firstAttemptAtMs: number | null;
  readonly lastAttemptAtMs: number | null;
  /** The next three are of the newest attempt. */
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly terminalHint: boolean;
};

export type AttemptOutcome = 'pending' | 'success' | 'retryable' | 'terminal';

/** One row of the delivery log. */
export type Attempt = {
  readonly id: string;
  readonly dispatchId: string;
  readonly attempt: number;
  readonly eventIds: readonly string[];
  readonly outcome: AttemptOutcome;
  readonly responseStatus: number | null;
  readonly latencyMs: number | null;
  readonly error: string | null;
  readonly firedAtMs: number;
  /** The first 1000 characters of what a receiver said that refused. */
  readonly responseBody: string | null;
  readonly test: boolean;
  readonly terminalHint: boolean;
};

/** What an attempt came to, as the store records it. */
export type Verdict = {
  readonly kind: 'success' | 'failure' | 'gone' | 'ours';
  readonly responseStatus: number | null;
  readonly latencyMs: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
  readonly terminalHint: boolean;
  /** A floor that the receiver set; null for none. */
  readonly retryAfterMs: number | null;
};

export type ReplayStatus = 'running' | 'completed' | 'cancelled';

/** Events of a time range on their way to an endpoint once more. `paused` is said of one whose endpoint is disabled. */
export type Replay = {
  readonly id: string;
  readonly endpointNumber: number;
  readonly status: ReplayStatus;
  readonly fromMs: number;
  readonly toMs: number;
  /** The selector of the call; null for all the endpoint gets. */
  readonly type: string | null;
  readonly matched: number;
  readonly enqueued: number;
  readonly delivered: number;
  readonly dead: number;
  readonly createdAtMs: number;
  readonly completedAtMs: number | null;
};

/** A replay that begins: the part of the log it goes through, both ends included, and what it takes of it. */
export type NewReplay = Pick<
  Replay,
  'id' | 'endpointNumber' | 'fromMs' | 'toMs' | 'type' | 'matched' | 'createdAtMs'
> & {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly mask: number;
};

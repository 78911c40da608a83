/**
 * The ports behind webhooks: what is read about endpoints, and the work of those who deliver. Endpoints, replays and
 * redeliveries are written through management changes (management.ts), so that audit, receipt and effect are one.
 */

import type { Attempt, Delivery, Replay, Verdict } from './delivery.ts';
import type { Endpoint, Subscription } from './endpoint.ts';
import type { EventMask } from './event-type.ts';

export type WebhookStore = {
  /** By (created, id), archived ones left out; `limit` null: all. */
  endpoints(organizationId: string, page: EndpointPage): Promise<readonly Endpoint[]>;
  /** Null for unknown, archived and other organizations' ids alike. */
  endpoint(organizationId: string, id: string): Promise<Endpoint | null>;
  /** Archived ones do not count. */
  countEndpoints(organizationId: string): Promise<number>;
  /** Newest first by (fired, id). */
  attempts(endpointNumber: number, page: DescendingPage): Promise<readonly Attempt[]>;
  delivery(endpointNumber: number, dispatchId: string): Promise<Delivery | null>;
  /** Of one delivery, newest first. */
  attemptsOf(endpointNumber: number, dispatchId: string, limit: number): Promise<readonly Attempt[]>;
  /** Dead deliveries but tests, newest first by (ended, dispatch id). */
  deadLetters(endpointNumber: number, page: DescendingPage): Promise<readonly Delivery[]>;
  /** MUST tell the oldest undelivered envelope truly at all times, whoever is at work. Tests count nowhere. */
  health(endpointNumber: number, nowMs: number): Promise<EndpointFigures>;
  replay(endpointNumber: number, replayId: string): Promise<Replay | null>;
  countUnfinishedReplays(endpointNumber: number): Promise<number>;
  /** The part of the log created in the range and not before `sinceMs`, and how many of the types it holds now. */
  matchEvents(organizationNumber: number, question: MatchQuestion): Promise<MatchedEvents>;
  /**
   * Records that a test begins: its delivery, and its attempt as pending. MUST answer instead after how many
   * milliseconds another may begin when `startsMax` have begun within the last `windowMs`, whoever counts.
   */
  beginTest(test: NewTest, limit: { readonly startsMax: number; readonly windowMs: number }): Promise<number | null>;
  endTest(test: NewTest, verdict: Verdict, nowMs: number): Promise<void>;
};

export type EndpointPage = {
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number | null;
};

/** `after`: the last of the page before. */
export type DescendingPage = {
  readonly after: { readonly atMs: number; readonly id: string } | null;
  readonly limit: number;
};

export type EndpointFigures = {
  /** When the oldest envelope was queued that is in the outbox or in a delivery that has not ended. */
  readonly oldestUndeliveredAtMs: number | null;
  /** Dead deliveries that are still kept. */
  readonly dead: number;
  /** Attempts that ended within the last hour (give or take the ten seconds they are counted in). */
  readonly finished: number;
  readonly succeeded: number;
  /** Of attempts of the last hour, newest first, at most 500. */
  readonly latenciesMs: readonly number[];
  /** Envelopes in no delivery yet. */
  readonly queuedEvents: number;
  /** Deliveries. What waits for a disabled endpoint is held, not retrying. */
  readonly retrying: number;
  readonly held: number;
  readonly inFlight: number;
};

export type MatchQuestion = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sinceMs: number;
  readonly mask: EventMask;
};

/** Both ends included; from above to when there is nothing. */
export type MatchedEvents = { readonly fromSeq: number; readonly toSeq: number; readonly matched: number };

export type NewTest = {
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly attemptId: string;
  readonly eventId: string;
  readonly firedAtMs: number;
};

/** For those who deliver. Instants come from the caller, whose clock `nowMs` keeps true. */
export type DeliveryStore = {
  /** The clock that leases are judged by; null where that is this process's own. */
  nowMs(): Promise<number | null>;
  /** Calls back, soon, after events were appended or something changed about endpoints, whoever did it. Answers how to stop. */
  listen(wake: () => void): () => void;
  /**
   * Endpoints that changed after a change number, archived and disabled ones too, with their unfinished replays; 0: all but the
   * archived. MUST NOT miss a change, in whatever order changes commit.
   */
  changes(afterChange: number): Promise<{ readonly change: number; readonly endpoints: readonly DispatchEndpoint[] }>;
  /** Where the logs of organizations end. */
  heads(): Promise<readonly { readonly organizationNumber: number; readonly seq: number }[]>;
  /** Ascending from behind a position, of all families; gaps are what retention took. */
  events(organizationNumber: number, range: LogRange): Promise<readonly LogEntry[]>;
  /** The envelopes at these positions, ascending; those that retention took are left out. */
  envelopes(organizationNumber: number, seqs: readonly number[], within: CreatedSpan): Promise<readonly LogEntry[]>;
  /** Deliveries to be claimed or taken over, of each of the endpoints the first few by due time, and when the next of each will be. */
  due(endpointNumbers: readonly number[], question: DueQuestion): Promise<readonly DueList[]>;
  /**
   * One transaction, in the order given; group commits are the caller's. Each piece of work holds alone: what has become
   * impossible answers `refused` or `stale` and changes nothing. Every claim MUST be refused when its endpoint is not
   * active or is of another version, when the lane stands elsewhere, or when as many sends are in progress as the endpoint
   * allows, over all processes. Every result MUST be void unless its fence is the delivery's own.
   */
  apply(work: readonly Work[], at: WorkInstant): Promise<readonly WorkOutcome[]>;
  /**
   * A step of housekeeping, at most `rowsMax` rows: ends streaks of 72 hours where no due attempt is waiting, cancels what
   * waits for archived endpoints, expires deliveries whose events retention took (created before `eventsBeforeMs`), removes what
   * ended before `endedBeforeMs`. Answers whether there is more to do, whom it disabled, and how many it expired.
   */
  sweep(question: SweepQuestion): Promise<Swept>;
  /** For metrics: deliveries that are not delivered or cancelled by status, active and disabled endpoints, what waits. */
  counts(): Promise<DeliveryCounts>;
  /** Whether no other process can be sending: then whatever is being sent at the start was lost with its sender. */
  readonly isAlone: boolean;
};

/** An endpoint as those see it who deliver to it. */
export type DispatchEndpoint = Endpoint & {
  /** Up to here fresh events are in deliveries, or were none of its concern. */
  readonly position: number;
  readonly inFlight: number;
  readonly subscriptions: readonly Subscription[];
  /** Unfinished ones, oldest first. */
  readonly replays: readonly RunningReplay[];
};

export type RunningReplay = {
  readonly number: number;
  readonly id: string;
  /** As for the endpoint, within this replay. */
  readonly position: number;
  readonly toSeq: number;
  readonly mask: EventMask;
  readonly createdAtMs: number;
};

export type LogRange = { readonly afterSeq: number; readonly limit: number };

export type LogEntry = {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly createdAtMs: number;
  readonly envelope: string;
};

/** Between which instants events were created; narrows where they are looked for. */
export type CreatedSpan = { readonly firstMs: number; readonly lastMs: number };

/** `attemptsPerHourMax`: of one organization in a clock hour (UTC), tests exempt; null: as many as it takes. */
export type WorkInstant = { readonly nowMs: number; readonly attemptsPerHourMax: number | null };

export type DueQuestion = { readonly nowMs: number; readonly perEndpointMax: number };

export type DueList = {
  readonly endpointNumber: number;
  /** Waiting and due, the longest due first. */
  readonly waiting: readonly WaitingDelivery[];
  /** Sending, with a lease that is over. */
  readonly lost: readonly { readonly number: number; readonly fence: number }[];
  /** When the next that waits, or the next lease that ends, will be; null for none. */
  readonly nextAtMs: number | null;
};

export type WaitingDelivery = { readonly number: number; readonly fence: number; readonly isReplay: boolean };

/** A batch taken from the log. */
export type NewBatch = {
  readonly dispatchId: string;
  readonly attemptId: string;
  readonly seqs: readonly number[];
  readonly eventIds: readonly string[];
  readonly created: CreatedSpan;
  /** `send`: its first attempt begins now. `wait`: due at once. `too_large`: dead, with one terminal attempt that was never made. */
  readonly fate: 'send' | 'wait' | 'too_large';
  /** Of a batch that is too large: the error of that attempt. */
  readonly error: string | null;
};

export type Lane = { readonly kind: 'fresh' } | { readonly kind: 'replay'; readonly number: number };

export type Work =
  /** Moves a lane on from one position to another and makes deliveries of what lay between. */
  | {
      readonly kind: 'cut';
      readonly endpointNumber: number;
      readonly version: number;
      readonly lane: Lane;
      readonly fromPosition: number;
      readonly toPosition: number;
      /** At most one of them is sent. None: nothing that lay between was of its concern, which needs no free slot. */
      readonly batches: readonly NewBatch[];
      readonly leaseMs: number;
    }
  /** Begins the next attempt of a waiting delivery. */
  | {
      readonly kind: 'take';
      readonly endpointNumber: number;
      readonly version: number;
      readonly number: number;
      readonly fence: number;
      readonly attemptId: string;
      readonly leaseMs: number;
    }
  /** Records how an attempt ended. `random` decides the jitter of what follows. */
  | {
      readonly kind: 'finish';
      readonly endpointNumber: number;
      readonly number: number;
      readonly fence: number;
      readonly verdict: Verdict;
      readonly destinationVersion: number;
      readonly random: number;
    }
  /** Takes over from a sender whose lease is over. */
  | {
      readonly kind: 'lose';
      readonly endpointNumber: number;
      readonly number: number;
      readonly fence: number;
      readonly random: number;
    };

/** Where an endpoint stands after a piece of work, for whoever counts along. */
export type EndpointPlace = {
  readonly version: number;
  readonly isActive: boolean;
  /** Of the lane that was to be cut; of fresh events after work that is no cut. */
  readonly position: number;
  readonly inFlight: number;
  readonly consecutiveFailures: number;
};

export type Claimed = {
  readonly number: number;
  readonly dispatchId: string;
  readonly attempt: number;
  readonly fence: number;
  readonly seqs: readonly number[];
  readonly created: CreatedSpan;
  readonly replay: boolean;
};

export type WorkOutcome =
  /** Null for a cut that sends nothing. */
  | { readonly kind: 'claimed'; readonly claimed: Claimed | null; readonly place: EndpointPlace }
  /**
   * `changed`: another version, or not active. `moved`: the lane stands elsewhere. `full`: no slot is free. `taken`: the
   * delivery is not due, or somebody else's. `capped`: the organization has made its attempts of this hour.
   * `expired`: its events are gone, and it is dead now. Null place: there is no such endpoint any more.
   */
  | {
      readonly kind: 'refused';
      readonly reason: 'changed' | 'moved' | 'full' | 'taken' | 'capped' | 'expired';
      readonly place: EndpointPlace | null;
    }
  | {
      readonly kind: 'recorded';
      readonly outcome: 'success' | 'retryable' | 'terminal';
      /** When it will be tried again; null when it has ended. */
      readonly nextAtMs: number | null;
      /** Why this ended the endpoint's activity; null when it did not. */
      readonly disabled: 'auto_failures_72h' | 'receiver_gone' | null;
      readonly deadReason: Delivery['deadReason'];
      readonly place: EndpointPlace;
    }
  | { readonly kind: 'stale' };

export type SweepQuestion = {
  readonly nowMs: number;
  readonly endedBeforeMs: number;
  readonly eventsBeforeMs: number;
  readonly rowsMax: number;
};

export type Swept = { readonly more: boolean; readonly disabled: readonly string[]; readonly expired: number };

export type DeliveryCounts = {
  readonly deliveries: Readonly<Record<'queued' | 'sending' | 'retrying' | 'held' | 'dead', number>>;
  readonly endpoints: Readonly<Record<'active' | 'disabled', number>>;
  /** What lies in the logs behind the positions of active endpoints, however much of it is of their concern. */
  readonly outboxEvents: number;
  /** When the oldest event was queued that an active endpoint has not taken, by its health; null when there is none. */
  readonly oldestUndeliveredAtMs: number | null;
};

/** As part of a management change: a delivery that is sent once more, if it still is as it was read. */
export type Redelivery = {
  readonly endpointNumber: number;
  readonly number: number;
  readonly fence: number;
  readonly atMs: number;
};

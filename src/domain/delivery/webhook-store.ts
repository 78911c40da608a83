/**
 * The ports of webhooks. Endpoints, replays and redeliveries are written through management changes (management.ts).
 */

import type { Endpoint, Subscription } from '../endpoints/endpoint.ts';
import type { EventMask } from '../events/event-type.ts';
import type { PagePosition } from '../management/listing.ts';
import type { Attempt, AttemptOutcome, DeadReason, Delivery, NewReplay, Replay, Verdict } from './delivery.ts';

export type WebhookStore = {
  /** Ordered by (created, id), without archived ones; `limit` null: all. */
  endpoints(organizationId: string, page: EndpointPage): Promise<readonly Endpoint[]>;
  /** Null for an unknown id, an archived endpoint and an endpoint of another organization alike. */
  endpoint(organizationId: string, id: string): Promise<Endpoint | null>;
  /** Archived ones are not counted. */
  countEndpoints(organizationId: string): Promise<number>;
  /** Newest first by (fired, id). */
  attempts(endpointNumber: number, page: DescendingPage): Promise<readonly Attempt[]>;
  delivery(endpointNumber: number, dispatchId: string): Promise<Delivery | null>;
  /** Newest first. */
  attemptsOf(endpointNumber: number, dispatchId: string, limit: number): Promise<readonly Attempt[]>;
  /** Dead deliveries without tests, newest first by (ended, dispatch id). */
  deadLetters(endpointNumber: number, page: DescendingPage): Promise<readonly Delivery[]>;
  replay(endpointNumber: number, replayId: string): Promise<Replay | null>;
  countUnfinishedReplays(endpointNumber: number): Promise<number>;
};

/** What the log says about an endpoint, and the tests of endpoints beside the deliveries of its events. */
export type WebhookLog = {
  /** MUST always return the true oldest undelivered envelope, regardless of other processes. Tests are not counted. */
  health(endpointNumber: number, nowMs: number): Promise<EndpointFigures>;
  /** The range of the log created in the time range and not before `sinceMs`, and its events of the types. */
  matchEvents(organizationNumber: number, request: MatchRequest): Promise<MatchedEvents>;
  /**
   * Stores a pending test. MUST return the wait in ms instead if `startsMax` started in `windowMs`, over all processes.
   */
  beginTest(test: NewTest, limit: { readonly startsMax: number; readonly windowMs: number }): Promise<number | null>;
  endTest(test: NewTest, verdict: Verdict, nowMs: number): Promise<void>;
};

type EndpointPage = { readonly after: PagePosition | null; readonly limit: number | null };

export type DescendingPage = {
  readonly after: { readonly atMs: number; readonly id: string } | null;
  readonly limit: number;
};

export type EndpointFigures = {
  /** When the oldest envelope in the outbox or in an unfinished delivery was queued. */
  readonly oldestUndeliveredAtMs: number | null;
  /** Dead deliveries that retention has not removed. */
  readonly dead: number;
  /** Attempts that ended within the last hour, to within ten seconds. */
  readonly finished: number;
  readonly succeeded: number;
  /** Of the attempts of the last hour, newest first, at most 500. */
  readonly latenciesMs: readonly number[];
  /** Envelopes that are in no delivery yet. */
  readonly queuedEvents: number;
  /** Deliveries. One that waits for a disabled endpoint counts as held, not as retrying. */
  readonly retrying: number;
  readonly held: number;
  readonly inFlight: number;
};

export type MatchRequest = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sinceMs: number;
  readonly mask: EventMask;
};

/** Both ends included; `fromSeq` is above `toSeq` when the range is empty. */
export type MatchedEvents = { readonly fromSeq: number; readonly toSeq: number; readonly matched: number };

export type NewTest = {
  readonly endpointNumber: number;
  readonly dispatchId: string;
  readonly attemptId: string;
  readonly eventId: string;
  readonly firedAtMs: number;
};

/** The port of dispatchers and senders. The caller passes instants of a clock that it corrects with `nowMs`. */
export type DeliveryStore = {
  /** The clock that decides about leases; null where that is the clock of this process. */
  nowMs(): Promise<number | null>;
  /** Calls `wake` soon after any process appended events or changed endpoints. Returns how to stop. */
  listen(wake: () => void): () => void;
  /** Endpoints changed after a change number, with running replays; 0: all but the archived. MUST NOT miss a change. */
  changes(afterChange: number): Promise<{ readonly change: number; readonly endpoints: readonly DispatchEndpoint[] }>;
  /** Increases with each new connection, because it may lead to another database: one that was restored, or a standby. */
  connections(): number;
  /** The last sequence numbers of the logs of organizations; without those whose log is empty. */
  heads(organizationNumbers: readonly number[]): Promise<readonly LogHead[]>;
  /** Ascending, after a position, of all event families; gaps are events that retention removed. */
  events(organizationNumber: number, range: LogRange): Promise<readonly LogEntry[]>;
  /** The envelopes at these positions, ascending, without those that retention removed. */
  envelopes(organizationNumber: number, seqs: readonly number[], within: CreatedSpan): Promise<readonly LogEntry[]>;
  /** Of each endpoint, the first deliveries to claim or take over by due time, and when the next is due. */
  due(endpointNumbers: readonly number[], request: DueRequest): Promise<readonly DueList[]>;
  /**
   * Applies the items in order, in one transaction; the caller groups them. Each item succeeds or fails alone: an item
   * that has become impossible returns `refused` or `stale` and changes nothing. A batch whose id another delivery of
   * its endpoint has MUST get another id. A claim MUST be refused when its
   * endpoint is not active or has another version, when the source has another position, or when the endpoint already
   * has its maximum of attempts in flight, over all processes. A result MUST be stale unless it has the current fence
   * of its delivery.
   */
  apply(work: readonly WorkItem[], at: ApplyOptions): Promise<readonly WorkOutcome[]>;
  /**
   * One step of maintenance, at most `rowsMax` rows: disables endpoints whose streak of failures reached 72 hours and
   * that have no due attempt, cancels waiting deliveries of archived endpoints, expires deliveries whose events left
   * retention (created before `eventsBeforeMs`), removes what ended before `endedBeforeMs`.
   */
  maintain(request: MaintenanceRequest): Promise<MaintenanceResult>;
  /** For metrics: deliveries by status (neither delivered nor cancelled), endpoints by status, and the outbox. */
  counts(): Promise<DeliveryCounts>;
  /** Whether no other process can send: then deliveries that are `sending` at the start lost their sender. */
  readonly isSingleProcess: boolean;
};

/** An endpoint as dispatchers see it. */
export type DispatchEndpoint = Endpoint & {
  /** Events up to this position are in deliveries, or are not for this endpoint. */
  readonly position: number;
  readonly inFlight: number;
  readonly subscriptions: readonly Subscription[];
  /** Running ones, oldest first. */
  readonly replays: readonly RunningReplay[];
};

export type RunningReplay = Pick<NewReplay, 'id' | 'toSeq' | 'mask' | 'fromMs' | 'toMs' | 'createdAtMs'> & {
  readonly number: number;
  /** Up to this position the replay has made deliveries. */
  readonly position: number;
};

export type LogHead = { readonly organizationNumber: number; readonly seq: number };
export type LogRange = { readonly afterSeq: number; readonly limit: number };

export type LogEntry = {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly createdAtMs: number;
  readonly envelope: string;
};

/** The range of instants in which the events were created; it limits which partitions are read. */
export type CreatedSpan = { readonly firstMs: number; readonly lastMs: number };

/** `attemptsPerHourMax`: limit of one organization in a clock hour (UTC), without tests; null: no limit. */
export type ApplyOptions = { readonly nowMs: number; readonly attemptsPerHourMax: number | null };

export type DueRequest = { readonly nowMs: number; readonly perEndpointMax: number };

export type DueList = {
  readonly endpointNumber: number;
  /** Waiting deliveries that are due, earliest due time first. */
  readonly waiting: readonly WaitingDelivery[];
  /** Deliveries that are `sending` after the end of their lease. */
  readonly lost: readonly Pick<Delivery, 'number' | 'fence'>[];
  /** When the next waiting delivery is due or the next lease ends; null: never. */
  readonly nextAtMs: number | null;
};

export type WaitingDelivery = { readonly number: number; readonly fence: number; readonly isReplay: boolean };

/** A batch of events read from the log. */
export type NewBatch = {
  readonly dispatchId: string;
  readonly attemptId: string;
  readonly seqs: readonly number[];
  readonly eventIds: readonly string[];
  readonly created: CreatedSpan;
  /** `send`: its first attempt starts now. `wait`: due at once. `too_large`: dead, its one attempt never sent. */
  readonly disposition: 'send' | 'wait' | 'too_large';
  /** For `too_large`, the error of that attempt; else null. */
  readonly error: string | null;
};

/** A delivery as it was read; work on it is void once the fence has moved. */
export type FencedDelivery = { readonly endpointNumber: number; readonly number: number; readonly fence: number };

export type DeliverySource = { readonly kind: 'live' } | { readonly kind: 'replay'; readonly number: number };

export type WorkItem =
  /** Advances a source from one position to another and creates deliveries from the events between. */
  | {
      readonly kind: 'advance';
      readonly endpointNumber: number;
      readonly version: number;
      readonly source: DeliverySource;
      readonly fromPosition: number;
      readonly toPosition: number;
      /** At most one has the disposition `send`. Empty: no event is for the endpoint, and no slot is needed. */
      readonly batches: readonly NewBatch[];
      readonly leaseMs: number;
    }
  /** Starts the next attempt of a waiting delivery. */
  | (FencedDelivery & {
      readonly kind: 'claim';
      readonly version: number;
      readonly attemptId: string;
      readonly leaseMs: number;
    })
  /** Records the result of an attempt. `random` (0 to 1) sets the jitter of the retry. */
  | (FencedDelivery & {
      readonly kind: 'finish';
      readonly verdict: Verdict;
      readonly destinationVersion: number;
      readonly random: number;
    })
  /** Takes a delivery over from a sender whose lease has ended. */
  | (FencedDelivery & { readonly kind: 'lose'; readonly random: number });

/** The endpoint after a work item, for the dispatcher's own copy of its state. */
export type EndpointSnapshot = Pick<Endpoint, 'version' | 'consecutiveFailures'> & {
  readonly isActive: boolean;
  /** The position of the source that the item advances; after other items that of the live source. */
  readonly position: number;
  readonly inFlight: number;
};

export type ClaimedDelivery = Pick<Delivery, 'number' | 'dispatchId' | 'attempt' | 'fence'> &
  Pick<NewBatch, 'seqs' | 'created'> & { readonly replay: boolean };

export type WorkOutcome =
  /** `claimed` is null for an advance that sends nothing. */
  | { readonly kind: 'claimed'; readonly claimed: ClaimedDelivery | null; readonly snapshot: EndpointSnapshot }
  /**
   * `changed`: another version, or not active. `moved`: the source has another position. `full`: no slot is free.
   * `taken`: not due, or another sender has it. `capped`: the organization reached its attempts of this hour.
   * `expired`: the events are gone, and the delivery is dead now. Null snapshot: the endpoint does not exist any more.
   */
  | {
      readonly kind: 'refused';
      readonly reason: 'changed' | 'moved' | 'full' | 'taken' | 'capped' | 'expired';
      readonly snapshot: EndpointSnapshot | null;
    }
  | {
      readonly kind: 'recorded';
      readonly outcome: Exclude<AttemptOutcome, 'pending'>;
      /** When the delivery is retried; null when it has ended. */
      readonly nextAtMs: number | null;
      /** Why this result disabled the endpoint; null when it did not. */
      readonly disabled: 'auto_failures_72h' | 'receiver_gone' | null;
      readonly deadReason: DeadReason | null;
      readonly snapshot: EndpointSnapshot;
    }
  | { readonly kind: 'stale' };

export type MaintenanceRequest = {
  readonly nowMs: number;
  readonly endedBeforeMs: number;
  readonly eventsBeforeMs: number;
  readonly rowsMax: number;
};

export type MaintenanceResult = {
  readonly more: boolean;
  readonly disabled: readonly string[];
  readonly expired: number;
};

export type DeliveryCounts = {
  readonly deliveries: Readonly<Record<'queued' | 'sending' | 'retrying' | 'held' | 'dead', number>>;
  readonly endpoints: Readonly<Record<'active' | 'disabled', number>>;
  /** Events in the logs after the positions of active endpoints, whether or not they are for the endpoint. */
  readonly outboxEvents: number;
  /** When the oldest event was queued that is undelivered to an active endpoint, as in its health; null: none. */
  readonly oldestUndeliveredAtMs: number | null;
};

/** Part of a management change: sends a delivery again, if its fence is still the one that was read. */
export type Redelivery = FencedDelivery & { readonly atMs: number };

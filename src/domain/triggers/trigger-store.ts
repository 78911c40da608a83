/** The port of triggers: what is stored of them, and the work that waits for a process. */

import type { Lease } from '../clock.ts';
import type { NewEvent } from '../events/event.ts';
import type { AlertEventType } from '../events/event-type.ts';
import type { AuditRecord } from '../management/management.ts';
import type { ResourceStore } from '../resources.ts';
import type { Trigger, TriggerState, TriggerStatus } from './trigger.ts';

/** An entry of the history of a trigger, with what became of its notification. */
export type TriggerEvent = {
  readonly projectId: string;
  readonly triggerId: string;
  /** The same over all attempts to notify. */
  readonly id: string;
  readonly kind: 'fired' | 'resolved' | 'changed';
  /** The state from then on. */
  readonly status: TriggerStatus;
  readonly value: number | null;
  readonly group: string | null;
  readonly reason: string | null;
  readonly traceCount: number;
  /** The first TRACE_IDS_MAX. */
  readonly traceIds: readonly string[];
  readonly delivery: 'none' | 'pending' | 'sent' | 'failed';
  readonly attempts: number;
  readonly error: string | null;
  readonly createdAtMs: number;
  readonly sentAtMs: number | null;
  /** The next attempt; null: there is none. */
  readonly dueAtMs: number | null;
};

export const TRACE_IDS_MAX = 20;

export type TriggerWithState = { readonly trigger: Trigger; readonly state: TriggerState };

/** An active trigger on traces; `runsSince` is the number of the change of monitors that activated it. */
export type RunningTrigger = Pick<Trigger, 'id' | 'filters' | 'query' | 'cadence' | 'action'> & {
  readonly runsSince: number;
};

export type RunningTriggers = {
  /** Null: there is no such project. */
  readonly projectId: string | null;
  readonly asOf: number;
  readonly triggers: readonly RunningTrigger[];
};

/** A trace that matched a trigger. */
export type Firing = {
  readonly triggerId: string;
  readonly traceId: string;
  /** The entry that tells of it; a digest has one for all its traces. */
  readonly eventId: string;
  /** When its notification is due. */
  readonly dueAtMs: number;
  readonly isDigest: boolean;
};

export type Fired = {
  readonly projectId: string;
  readonly firings: readonly Firing[];
  readonly nowMs: number;
  /** The id of the entry that tells that a trigger was paused, by trigger. */
  readonly pauseIds: readonly string[];
};

/** An evaluation of a metric. `event` is null when there is nothing to tell. */
export type Evaluated = {
  readonly projectId: string;
  readonly triggerId: string;
  readonly fence: number;
  /** The version of the trigger that was evaluated. */
  readonly triggerUpdatedAtMs: number;
  readonly next: TriggerState;
  readonly event: TriggerEvent | null;
  readonly nowMs: number;
};

export type Recorded = 'recorded' | 'paused' | 'stale';

export type LeasedTrigger = TriggerWithState & { readonly fence: number };
export type ClaimedNotification = {
  readonly trigger: Trigger;
  /** Null: its project is gone. */
  readonly organizationId: string | null;
  readonly event: TriggerEvent;
  readonly fence: number;
};

export type NotificationKey = Pick<TriggerEvent, 'projectId' | 'id'> & { readonly fence: number };

export type NotificationEnd = NotificationKey & {
  readonly nowMs: number;
  readonly outcome:
    | { readonly kind: 'sent' }
    | { readonly kind: 'retry'; readonly error: string; readonly dueAtMs: number }
    | { readonly kind: 'failed'; readonly error: string };
};

type WorkLease = Lease & { readonly untilMs: number; readonly fence: number; readonly limit: number };

export type TriggerPage = {
  readonly projectId: string;
  readonly triggerId: string;
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number;
};

export type TriggerStore = Omit<ResourceStore<Trigger>, 'remove'> & {
  /** MUST also drop the notifications that wait; false when there is no such trigger any more. */
  remove(
    projectId: string,
    id: string,
    change: { readonly nowMs: number; readonly audited: AuditRecord },
  ): Promise<boolean>;
  /**
   * MUST keep slugs unique in the project: returns `slug_taken` without storing when the slug is used, and
   * `limit_reached` when the project already holds `liveMax` triggers. Every append that begins after the answer MUST
   * see an active trigger on traces.
   */
  insert(
    created: TriggerWithState & { readonly audited: AuditRecord },
    liveMax: number,
  ): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** All triggers of the project that are not deleted, in any order. */
  list(projectId: string): Promise<readonly TriggerWithState[]>;
  /** Null without the trigger. */
  state(projectId: string, id: string): Promise<TriggerState | null>;
  /**
   * Replaces all but id, kind and creation time, and the state where one is given, with an entry of the history. MUST
   * return `stale` and store nothing when the trigger is deleted, or was updated at another instant than
   * `expectedUpdatedAtMs`.
   */
  replace(change: TriggerChange, expectedUpdatedAtMs: number): Promise<'stored' | 'stale'>;
  /** The newest first. */
  history(page: TriggerPage): Promise<readonly TriggerEvent[]>;
  /**
   * The active triggers on traces, and the number of a change of monitors that they are at least as new as; null where
   * nothing has changed since `knownAsOf`.
   */
  runningOn(projectNumber: number, knownAsOf: number | null): Promise<RunningTriggers | null>;
  /**
   * Stores that traces matched, at most FIRINGS_MAX. MUST store each pair of trigger and trace once, as long as both exist,
   * with its entry in the same transaction; MUST leave out triggers that are not active. A trigger with more notifications in
   * the last hour than NOTIFICATIONS_MAX is paused instead. Returns how many were new. Those who remove a trace MUST remove
   * its pairs.
   */
  fire(fired: Fired): Promise<number>;
  /** MUST make due what waits, and free what is leased, for longer than WAITS_MAX_MS. */
  correctDue(nowMs: number): Promise<void>;
  /**
   * Leases triggers on metrics whose next evaluation is due, those of one project that is not among `notOf`. MUST lease a
   * trigger to one caller only until the lease expires. MUST choose the project that waits longest.
   */
  leaseDue(lease: WorkLease & { readonly notOf: readonly string[] }): Promise<readonly LeasedTrigger[]>;
  /** Ends leases without an evaluation. MUST NOT change triggers that another caller has leased. */
  release(leased: readonly LeasedTrigger[]): Promise<void>;
  /**
   * Stores the states after evaluations and their entries in one transaction, and ends the leases. MUST return `stale` and
   * store neither for a trigger that another process has leased, or that was changed, paused or deleted meanwhile.
   */
  record(evaluated: readonly Evaluated[]): Promise<readonly Recorded[]>;
  /**
   * Leases notifications that are due, of organizations that are not among `notOf`, and counts an attempt. Projects with any
   * share the limit equally, so that those of one never keep those of another waiting; within a project the order is that of
   * their due times.
   */
  claim(lease: WorkLease & { readonly notOf: readonly string[] }): Promise<readonly ClaimedNotification[]>;
  /** MUST return false and store nothing when another process has claimed the notification. */
  end(end: NotificationEnd): Promise<boolean>;
  /** Appends the event to the log of the organization, and ends the notification, in one transaction. The same duty. */
  handOver(event: HandedOver): Promise<boolean>;
  /** Ends the leases that a stopped process had. Only where no other process works on the same database. */
  takeOver(): Promise<void>;
  /** Removes some entries that are older, and some pairs of deleted triggers. */
  prune(before: { readonly eventsMs: number }): Promise<'more' | 'done'>;
};

export type TriggerChange = {
  readonly trigger: Trigger;
  /** Null: the state stays. */
  readonly state: TriggerState | null;
  readonly event: TriggerEvent | null;
  readonly audited: AuditRecord;
};

export type HandedOver = NotificationKey & {
  readonly organizationId: string;
  readonly event: NewEvent<AlertEventType>;
  readonly nowMs: number;
};

/** Of one transaction. */
export const FIRINGS_MAX = 200;
/** Of a trigger within an hour. */
export const NOTIFICATIONS_MAX = 100;
export const HOUR_MS = 3_600_000;
export const PAUSED_BY_LIMIT = `The trigger sent ${NOTIFICATIONS_MAX} notifications within an hour; switch it on again once it is quiet.`;

/** The state of a trigger that the limit of an hour has paused. */
export function pausedState(state: TriggerState, nowMs: number): TriggerState {
  return { ...state, status: 'PAUSED', sinceMs: nowMs, reason: PAUSED_BY_LIMIT, announced: null, dueAtMs: null };
}

/** An entry of the history about a state. */
export function stateEvent(
  of: Pick<TriggerEvent, 'projectId' | 'triggerId' | 'id' | 'kind'>,
  { status, value, group, reason }: Pick<TriggerState, 'status' | 'value' | 'group' | 'reason'>,
  { nowMs, notifies }: { readonly nowMs: number; readonly notifies: boolean },
): TriggerEvent {
  return {
    ...of,
    ...{ status, value, group, reason, traceCount: 0, traceIds: [] },
    delivery: notifies ? 'pending' : 'none',
    attempts: 0,
    error: null,
    createdAtMs: nowMs,
    sentAtMs: null,
    dueAtMs: notifies ? nowMs : null,
  };
}

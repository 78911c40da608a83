/** Queues of traces that reviewers go through, and their port. */

import type { AuditRecord } from '../management/management.ts';

export type ReviewQueue = {
  readonly id: string;
  /** Unique in the project. */
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** Definitions of the scores that reviewers are asked for. */
  readonly scoreIds: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** Items of a queue. */
export type QueueCounts = { readonly pending: number; readonly claimed: number; readonly done: number };

export type CountedQueue = { readonly queue: ReviewQueue; readonly counts: QueueCounts };

export type QueueItem = {
  readonly id: string;
  readonly queueId: string;
  readonly traceId: string;
  readonly addedAtMs: number;
  /** Who holds it, and until when; null for one that nobody ever claimed. */
  readonly claimedBy: string | null;
  /** 0: it is free. */
  readonly claimedUntilMs: number;
  readonly doneBy: string | null;
  readonly doneAtMs: number | null;
};

export type ItemsAdded = {
  /** New items. */
  readonly added: number;
  /** Traces that the queue has already. */
  readonly known: number;
  /** Traces that there are not. */
  readonly unknown: number;
};

export type NewItems = {
  readonly projectNumber: number;
  readonly queueId: string;
  /** The forms of each trace's id to look for; the first that exists counts. */
  readonly traces: readonly { readonly itemId: string; readonly forms: readonly string[] }[];
  readonly nowMs: number;
  /** Traces that were first received before this instant have expired; null: none has. */
  readonly expiredBeforeMs: number | null;
  readonly itemsMax: number;
};

/** When queues are read. Items of traces that were first received before `expiredBeforeMs` are not there; null: all are. */
export type ReadAt = { readonly nowMs: number; readonly expiredBeforeMs: number | null };

export type NamedItem = ReadAt & {
  readonly projectNumber: number;
  readonly queueId: string;
  readonly itemId: string;
  readonly reviewer: string;
};

export type Claiming = Omit<NamedItem, 'itemId'> & {
  readonly untilMs: number;
  /** Whether to return the item that the reviewer holds already, if there is one. */
  readonly isResuming: boolean;
};

/** What becomes of an item of which a reviewer is done. */
export type ItemEnd = 'complete' | 'release';

/** `not_claimed`: nobody, or another reviewer, holds the item. */
export type ItemEnded = QueueItem | 'not_found' | 'not_claimed';

/** Of traces that have expired, or are gone, items MUST neither be counted nor claimed nor ended. */
export type QueueStore = {
  /** The oldest first. */
  list(projectNumber: number, at: ReadAt): Promise<readonly CountedQueue[]>;
  find(projectNumber: number, id: string, at: ReadAt): Promise<CountedQueue | null>;
  /** MUST return `name_taken` or `limit_reached` and store nothing. */
  insert(
    projectNumber: number,
    queue: ReviewQueue,
    change: { readonly liveMax: number; readonly audited: AuditRecord },
  ): Promise<'stored' | 'name_taken' | 'limit_reached'>;
  /** MUST return `stale` when the queue changed at another instant than `expectedUpdatedAtMs`, or is gone. */
  replace(
    projectNumber: number,
    queue: ReviewQueue,
    change: { readonly expectedUpdatedAtMs: number; readonly audited: AuditRecord },
  ): Promise<'stored' | 'stale' | 'name_taken'>;
  /** Removes its items, too; false when there is none. */
  remove(projectNumber: number, id: string, audited: AuditRecord): Promise<boolean>;
  /**
   * MUST add each trace once, however often it is added, whatever became of its item. MUST return `no_queue`, or `full` and
   * store nothing when the queue would have more than `itemsMax` items that are not done. An item MUST be removed
   * with its trace, also when both happen at once.
   */
  addItems(items: NewItems): Promise<ItemsAdded | 'no_queue' | 'full'>;
  /**
   * Claims the item that was added first among those that are not done and that nobody holds; null when there is none. Two
   * reviewers MUST NOT hold the same item, however many claim at once.
   */
  claim(claiming: Claiming): Promise<QueueItem | null>;
  /**
   * MUST change only an item that the reviewer holds: a claim that has expired is none. What the same reviewer has completed is
   * returned again.
   */
  end(item: NamedItem, end: ItemEnd): Promise<ItemEnded>;
};

/** How far a source (the live log or a replay) has been read, and the events found that are in no delivery yet. */

import type { LogEntry } from '../domain/delivery/webhook-store.ts';
import { includesType, NO_EVENTS } from '../domain/events/event-type.ts';
import type { LogPages } from './log-pages.ts';

export type SourceCursor = {
  /** The position in the store, as far as this process knows. */
  saved: number;
  /** The position once all advances in flight are stored. */
  position: number;
  /** The last sequence number that has been scanned. */
  scanned: number;
  /** Events between the two that the endpoint gets, oldest first. */
  pending: LogEntry[];
  /** Advances in flight: work items that the store has not answered. */
  advancing: number;
  /** The true position, when an advance in flight was refused, because those behind it will be refused too; else null. */
  resetTo: number | null;
};

export function createCursor(position: number): SourceCursor {
  return { saved: position, position, scanned: position, pending: [], advancing: 0, resetTo: null };
}

/** Restarts at a position, as soon as no advance is in flight. */
export function resetCursor(cursor: SourceCursor, position: number): void {
  cursor.resetTo = position;
  settleReset(cursor);
}

/** MUST be called once for each advance, when the store has answered it. */
export function endAdvance(cursor: SourceCursor): void {
  cursor.advancing -= 1;
  settleReset(cursor);
}

function settleReset(cursor: SourceCursor): void {
  if (cursor.advancing > 0 || cursor.resetTo === null) return;
  cursor.saved = cursor.resetTo;
  cursor.position = cursor.resetTo;
  cursor.scanned = cursor.resetTo;
  cursor.pending = [];
  cursor.resetTo = null;
}

type Scan = {
  readonly pages: Pick<LogPages, 'find'>;
  readonly organizationNumber: number;
  readonly toSeq: number;
  /** The event types that the source delivers at the position and the instant of an event. */
  readonly maskOf: (entry: LogEntry) => number;
  /** The first position from this one on at which the source delivers any type. */
  readonly wantedFrom: (seq: number) => number;
  /** All event types that the source delivers at this position or later. */
  readonly maskFrom: (seq: number) => number;
  /** The scan stops at this many pending events. */
  readonly enough: number;
};

/** Scans the log for pending events. False: a page is missing, and the caller MUST scan again once it is loaded. */
export function scanLog(cursor: SourceCursor, scan: Scan): boolean {
  const { pages, organizationNumber, toSeq, maskOf, enough } = scan;
  while (cursor.pending.length < enough && cursor.scanned < toSeq) {
    // Skips the time in which the endpoint was disabled, which may be months of log.
    cursor.scanned = Math.min(scan.wantedFrom(cursor.scanned + 1) - 1, toSeq);
    if (cursor.scanned === toSeq) return true;
    const page = pages.find(organizationNumber, cursor.scanned + 1, toSeq);
    if (page === null) return false;
    // Most endpoints want few types, so the types of a page decide whether its entries are read at all.
    const mayHold = (page.types & scan.maskFrom(cursor.scanned + 1)) !== NO_EVENTS;
    if (mayHold) scanPage(cursor, page.entries, { maskOf, enough, toSeq });
    if (cursor.pending.length < enough) cursor.scanned = Math.max(cursor.scanned, Math.min(page.coveredTo, toSeq));
  }
  return true;
}

function scanPage(
  cursor: SourceCursor,
  entries: readonly LogEntry[],
  { maskOf, enough, toSeq }: Pick<Scan, 'maskOf' | 'enough' | 'toSeq'>,
): void {
  for (let index = firstAfter(entries, cursor.scanned); index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined || entry.seq > toSeq || cursor.pending.length >= enough) return;
    if (includesType(maskOf(entry), entry.type)) cursor.pending.push(entry);
    cursor.scanned = entry.seq;
  }
}

function firstAfter(entries: readonly LogEntry[], seq: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Removes the oldest pending events for the next batch, and returns the position that the source has after them. */
export function shiftPending(cursor: SourceCursor, count: number): { taken: LogEntry[]; toPosition: number } {
  const taken = cursor.pending.splice(0, count);
  const last = taken.at(-1);
  const toPosition = cursor.pending.length > 0 && last !== undefined ? last.seq : cursor.scanned;
  return { taken, toPosition };
}

/** How far a lane has gone through the log, and what it found there that is not in a delivery yet. */

import { includesType, NO_EVENTS } from '../domain/event-type.ts';
import type { LogEntry } from '../domain/webhook-store.ts';
import type { LogPages } from './log-pages.ts';

export type LaneCursor = {
  /** Where the lane stands in the store, as far as is known. */
  saved: number;
  /** Where it will stand when all cuts under way have been stored. */
  position: number;
  /** How far the log has been looked through. */
  scanned: number;
  /** Found between the two, oldest first. */
  pending: LogEntry[];
  /** Cuts under way. */
  cutting: number;
  /** A cut under way was refused, so what follows will be as well; where the lane really stands. */
  resetTo: number | null;
};

export function createCursor(position: number): LaneCursor {
  return { saved: position, position, scanned: position, pending: [], cutting: 0, resetTo: null };
}

/** Begins anew from a position, once nothing is under way any more. */
export function resetCursor(cursor: LaneCursor, position: number): void {
  cursor.resetTo = position;
  settleReset(cursor);
}

/** To be called at the end of every cut. */
export function endCut(cursor: LaneCursor): void {
  cursor.cutting -= 1;
  settleReset(cursor);
}

function settleReset(cursor: LaneCursor): void {
  if (cursor.cutting > 0 || cursor.resetTo === null) return;
  cursor.saved = cursor.resetTo;
  cursor.position = cursor.resetTo;
  cursor.scanned = cursor.resetTo;
  cursor.pending = [];
  cursor.resetTo = null;
}

export type Scan = {
  readonly pages: LogPages;
  readonly organizationNumber: number;
  readonly toSeq: number;
  /** What the lane takes at a position. */
  readonly maskAt: (seq: number) => number;
  /** The first position from this one on at which it takes anything. */
  readonly wantedFrom: (seq: number) => number;
  /** All that it takes at any position from this one on. */
  readonly maskFrom: (seq: number) => number;
  /** Enough to be found for now. */
  readonly enough: number;
};

/** Looks on through the log. False: a page is being read, and it is to be tried again then. */
export function scanOn(cursor: LaneCursor, scan: Scan): boolean {
  const { pages, organizationNumber, toSeq, maskAt, enough } = scan;
  while (cursor.pending.length < enough && cursor.scanned < toSeq) {
    // Months may lie between, in which it was disabled.
    cursor.scanned = Math.min(scan.wantedFrom(cursor.scanned + 1) - 1, toSeq);
    if (cursor.scanned === toSeq) return true;
    const page = pages.find(organizationNumber, cursor.scanned + 1, toSeq);
    if (page === null) return false;
    // Most endpoints are for few types: they pass a page at one glance.
    const mayHold = (page.types & scan.maskFrom(cursor.scanned + 1)) !== NO_EVENTS;
    if (mayHold) scanPage(cursor, page.entries, { maskAt, enough, toSeq });
    if (cursor.pending.length < enough) cursor.scanned = Math.max(cursor.scanned, Math.min(page.coveredTo, toSeq));
  }
  return true;
}

function scanPage(
  cursor: LaneCursor,
  entries: readonly LogEntry[],
  { maskAt, enough, toSeq }: Pick<Scan, 'maskAt' | 'enough' | 'toSeq'>,
): void {
  for (let index = firstAfter(entries, cursor.scanned); index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined || entry.seq > toSeq || cursor.pending.length >= enough) return;
    if (includesType(maskAt(entry.seq), entry.type)) cursor.pending.push(entry);
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

/** Takes what goes into the next batches, and says where the lane will stand then. */
export function takePending(cursor: LaneCursor, count: number): { taken: LogEntry[]; toPosition: number } {
  const taken = cursor.pending.splice(0, count);
  const last = taken.at(-1);
  const toPosition = cursor.pending.length > 0 && last !== undefined ? last.seq : cursor.scanned;
  return { taken, toPosition };
}

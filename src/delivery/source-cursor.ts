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
  /** Of their envelopes. */
  characters: number;
  /** Advances in flight: work items that the store has not answered. */
  advancing: number;
  /** The true position, when an advance in flight was refused, because those behind it will be refused too; else null. */
  resetTo: number | null;
};

export function createCursor(position: number): SourceCursor {
  return { saved: position, position, scanned: position, pending: [], characters: 0, advancing: 0, resetTo: null };
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
  cursor.characters = 0;
  cursor.resetTo = null;
}

/** What makes a batch full: so many events, or so many characters of their envelopes. */
export type Enough = { readonly events: number; readonly characters: number };

export function hasEnough({ pending, characters }: SourceCursor, enough: Enough): boolean {
  return pending.length >= enough.events || characters >= enough.characters;
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
  /** The scan stops when the pending events fill a batch. */
  readonly enough: Enough;
};

/** Scans the log for pending events. False: a page is missing, and the caller MUST scan again once it is loaded. */
export function scanLog(cursor: SourceCursor, scan: Scan): boolean {
  const { pages, organizationNumber, toSeq, maskOf, enough } = scan;
  while (!hasEnough(cursor, enough) && cursor.scanned < toSeq) {
    // Skips the time in which the endpoint was disabled, which may be months of log.
    cursor.scanned = Math.min(scan.wantedFrom(cursor.scanned + 1) - 1, toSeq);
    if (cursor.scanned === toSeq) return true;
    const page = pages.find(organizationNumber, cursor.scanned + 1, toSeq);
    if (page === null) return false;
    // Most endpoints want few types, so the types of a page decide whether its entries are read at all.
    const mayHold = (page.types & scan.maskFrom(cursor.scanned + 1)) !== NO_EVENTS;
    if (mayHold) scanPage(cursor, page.entries, { maskOf, enough, toSeq });
    if (!hasEnough(cursor, enough)) cursor.scanned = Math.max(cursor.scanned, Math.min(page.coveredTo, toSeq));
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
    if (entry === undefined || entry.seq > toSeq || hasEnough(cursor, enough)) return;
    if (includesType(maskOf(entry), entry.type)) {
      cursor.pending.push(entry);
      cursor.characters += entry.envelope.length;
    }
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

/**
 * Removes the oldest pending events for the next batch, at least one if there is any, and returns the position that the source has
 * after them.
 */
export function shiftPending(cursor: SourceCursor, enough: Enough): { taken: LogEntry[]; toPosition: number } {
  let count = 0;
  let characters = 0;
  // Most batches take all that is pending.
  if (cursor.pending.length <= enough.events && cursor.characters <= enough.characters) {
    const taken = cursor.pending;
    cursor.pending = [];
    cursor.characters = 0;
    return { taken, toPosition: cursor.scanned };
  }
  for (const { envelope } of cursor.pending) {
    if (count > 0 && (count >= enough.events || characters + envelope.length > enough.characters)) break;
    count += 1;
    characters += envelope.length;
  }
  const taken = cursor.pending.splice(0, count);
  cursor.characters -= characters;
  const last = taken.at(-1);
  const toPosition = cursor.pending.length > 0 && last !== undefined ? last.seq : cursor.scanned;
  return { taken, toPosition };
}

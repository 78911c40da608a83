/** Decides which lane of an endpoint gets the next slot. Reads and waits for nothing. */

import type { WaitingDelivery } from '../domain/webhook-store.ts';
import { type Entry, maskAt, maskFrom, type ReplayLane, wantedFrom } from './entry.ts';
import { type LaneCursor, scanOn } from './lane-cursor.ts';
import type { LogPages } from './log-pages.ts';

export type Next =
  | { readonly kind: 'fresh'; readonly cursor: LaneCursor }
  | { readonly kind: 'replay'; readonly cursor: LaneCursor; readonly lane: ReplayLane }
  | { readonly kind: 'waiting'; readonly delivery: WaitingDelivery };

export type Sight = { readonly pages: LogPages; readonly headSeq: number; readonly nowMs: number };

/** Positions that are only known here are lost with the process; so many may have to be looked through again. */
export const UNSAVED_SEQS_MAX = 10_000;

/** Null: nothing is ready. When something will be without being told, the entry says so. */
export function nextOf(entry: Entry, sight: Sight): Next | null {
  const fresh = isFreshReady(entry, sight) ? ({ kind: 'fresh', cursor: entry.fresh } as const) : null;
  const others = othersOf(entry, sight);
  if (others.length === 0) return fresh;
  // Fresh events get every second slot, whatever else there is; the others take turns in the rest.
  if (fresh !== null && entry.grants % 2 === 0) return fresh;
  return others[(entry.grants >> 1) % others.length] ?? fresh;
}

function isFreshReady(entry: Entry, { pages, headSeq, nowMs }: Sight): boolean {
  const { endpoint, fresh } = entry;
  if (fresh.resetTo !== null) return false;
  const isScanned = scanOn(fresh, {
    pages,
    organizationNumber: endpoint.organizationNumber,
    toSeq: headSeq,
    maskAt: (seq) => maskAt(endpoint, seq),
    wantedFrom: (seq) => wantedFrom(endpoint, seq),
    maskFrom: (seq) => maskFrom(endpoint, seq),
    enough: endpoint.maxBatchSize,
  });
  // What has been found so far would be a part of the batch that is coming.
  if (!isScanned) return false;
  const oldest = fresh.pending[0];
  if (oldest === undefined) return false;
  if (fresh.pending.length >= endpoint.maxBatchSize || endpoint.maxBatchDelayMs === 0) return true;
  const ripeAtMs = oldest.createdAtMs + endpoint.maxBatchDelayMs;
  if (ripeAtMs <= nowMs) return true;
  lookAgain(entry, ripeAtMs);
  return false;
}

function othersOf(entry: Entry, sight: Sight): readonly Next[] {
  const others: Next[] = [];
  const [delivery] = entry.waiting;
  if (delivery !== undefined) others.push({ kind: 'waiting', delivery });
  const lane = entry.replays.find((each) => isReplayReady(entry, each, sight.pages));
  if (lane !== undefined) others.push({ kind: 'replay', cursor: lane.cursor, lane });
  return others;
}

function isReplayReady({ endpoint }: Entry, { replay, cursor }: ReplayLane, pages: LogPages): boolean {
  if (cursor.resetTo !== null) return false;
  scanOn(cursor, {
    pages,
    organizationNumber: endpoint.organizationNumber,
    toSeq: replay.toSeq,
    maskAt: () => replay.mask,
    wantedFrom: (seq) => seq,
    maskFrom: () => replay.mask,
    enough: endpoint.maxBatchSize,
  });
  if (cursor.pending.length >= endpoint.maxBatchSize) return true;
  return cursor.pending.length > 0 && cursor.scanned >= replay.toSeq;
}

/** Lanes that went past much, or all there was, without finding anything: their positions are to be saved. */
export function unsavedOf(entry: Entry): readonly Exclude<Next, { kind: 'waiting' }>[] {
  const unsaved: Exclude<Next, { kind: 'waiting' }>[] = [];
  if (isBare(entry.fresh) && entry.fresh.scanned - entry.fresh.position >= UNSAVED_SEQS_MAX) {
    unsaved.push({ kind: 'fresh', cursor: entry.fresh });
  }
  for (const lane of entry.replays) {
    const { cursor, replay } = lane;
    const isOver = cursor.scanned >= replay.toSeq && cursor.position < replay.toSeq;
    if (isBare(cursor) && (isOver || cursor.scanned - cursor.position >= UNSAVED_SEQS_MAX)) {
      unsaved.push({ kind: 'replay', cursor, lane });
    }
  }
  return unsaved;
}

function isBare({ pending, cutting, resetTo }: LaneCursor): boolean {
  return pending.length === 0 && cutting === 0 && resetTo === null;
}

export function lookAgain(entry: Entry, atMs: number): void {
  entry.lookAtMs = entry.lookAtMs === null ? atMs : Math.min(entry.lookAtMs, atMs);
}

/** A cache of log pages: each page is read once, however many endpoints need it. It names missing pages and reads nothing. */

import type { LogEntry, LogRange } from '../domain/delivery/webhook-store.ts';
import { type EventMask, maskOfSelector, NO_EVENTS } from '../domain/events/event-type.ts';

/** A range of the log. Only its end changes, when more has been read. */
type LogPage = {
  /** Ascending. */
  readonly entries: readonly LogEntry[];
  /** All events up to here are in `entries`. */
  readonly coveredTo: number;
  /** The event types of all entries. */
  readonly types: EventMask;
};

/** A page to read, and up to where. */
export type PageRequest = {
  readonly organizationNumber: number;
  readonly range: LogRange;
  readonly toSeq: number;
  readonly page: CachedPage;
};

export type LogPages = {
  /** The page with a position at or before the head. Null: it is missing, and has a request until it is answered. */
  find(organizationNumber: number, seq: number, headSeq: number): LogPage | null;
  /** The requests since the last call. Each MUST be answered by `add` or `fail`. */
  takeRequests(): readonly PageRequest[];
  add(request: PageRequest, entries: readonly LogEntry[]): void;
  /** The next `find` of the page makes a new request. */
  fail(request: PageRequest): void;
  /** Forgets all pages, and ignores the answers of requests made before. */
  clear(): void;
};

const PAGE_SEQS = 128;
const CACHED_MAX_CHARACTERS = 24 * 1024 * 1024;
const ENTRY_CHARACTERS = 256;
const NO_REQUESTS: readonly PageRequest[] = [];

type CachedPage = {
  entries: LogEntry[];
  coveredTo: number;
  types: EventMask;
  characters: number;
  isLoading: boolean;
  isGone: boolean;
};

export function createLogPages(): LogPages {
  const pages = new Map<string, CachedPage>();
  let requests: PageRequest[] = [];
  let characters = 0;

  /** Keeps the newest page even if it is too large by itself, because an endpoint needs it. */
  function dropOldest(newest: CachedPage): void {
    for (const [key, page] of pages) {
      if (characters <= CACHED_MAX_CHARACTERS) return;
      if (page.isLoading || page === newest) continue;
      pages.delete(key);
      characters -= page.characters;
    }
  }

  return {
    find(organizationNumber, seq, headSeq) {
      const index = Math.floor(seq / PAGE_SEQS);
      const key = `${organizationNumber} ${index}`;
      const page = pages.get(key) ?? createPage(index * PAGE_SEQS - 1);
      // A map keeps the order of insertion, so the least recently used page is the first one.
      pages.delete(key);
      pages.set(key, page);
      if (page.coveredTo >= seq) return page;
      if (!page.isLoading) {
        page.isLoading = true;
        const toSeq = Math.min((index + 1) * PAGE_SEQS - 1, headSeq);
        const range = { afterSeq: page.coveredTo, limit: toSeq - page.coveredTo };
        requests.push({ organizationNumber, range, toSeq, page });
      }
      return null;
    },
    takeRequests() {
      if (requests.length === 0) return NO_REQUESTS;
      const taken = requests;
      requests = [];
      return taken;
    },
    add({ page, toSeq }, entries) {
      if (page.isGone) return;
      for (const entry of entries) {
        if (entry.seq > toSeq) break;
        page.entries.push(entry);
        page.types |= maskOfSelector(entry.type) ?? NO_EVENTS;
        page.characters += entry.envelope.length + ENTRY_CHARACTERS;
        characters += entry.envelope.length + ENTRY_CHARACTERS;
      }
      page.coveredTo = toSeq;
      page.isLoading = false;
      dropOldest(page);
    },
    fail({ page }) {
      page.isLoading = false;
    },
    clear() {
      for (const page of pages.values()) page.isGone = true;
      pages.clear();
      requests = [];
      characters = 0;
    },
  };
}

function createPage(coveredTo: number): CachedPage {
  return { entries: [], coveredTo, types: NO_EVENTS, characters: 0, isLoading: false, isGone: false };
}

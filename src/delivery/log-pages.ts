/** The log in memory, as far as deliveries are at work in it: read once, whoever many endpoints it goes to. */

import { type EventMask, maskOfSelector, NO_EVENTS } from '../domain/event-type.ts';
import type { DeliveryStore, LogEntry } from '../domain/webhook-store.ts';

/** What is known of one stretch of the log; it never changes but at its end. */
export type LogPage = {
  /** Ascending. */
  readonly entries: readonly LogEntry[];
  /** Up to here everything there is stands in the entries. */
  readonly coveredTo: number;
  /** The types of all the entries. */
  readonly types: EventMask;
};

export type LogPages = {
  /**
   * The page that tells of a position at or before the head. Null: it is being read, and `onLoaded` will be called.
   */
  find(organizationNumber: number, seq: number, headSeq: number): LogPage | null;
};

export type LogPagesDeps = {
  readonly events: DeliveryStore['events'];
  readonly onLoaded: (organizationNumber: number) => void;
  /** Whoever needs the page must ask again later: a store that is away is not to be asked in a circle. */
  readonly onFailed: (organizationNumber: number, error: unknown) => void;
};

const PAGE_SEQS = 128;
const KEPT_MAX_CHARACTERS = 24 * 1024 * 1024;
const ENTRY_CHARACTERS = 256;

type Kept = { entries: LogEntry[]; coveredTo: number; types: EventMask; characters: number; isLoading: boolean };

export function createLogPages({ events, onLoaded, onFailed }: LogPagesDeps): LogPages {
  const pages = new Map<string, Kept>();
  let characters = 0;

  function keep(key: string, page: Kept): void {
    // The order of a map is that of insertion: what was used last goes last.
    pages.delete(key);
    pages.set(key, page);
  }

  /** But not the one that was just read: it may be too large by itself, and is needed all the same. */
  function dropOldest(newest: Kept): void {
    for (const [key, page] of pages) {
      if (characters <= KEPT_MAX_CHARACTERS) return;
      if (page.isLoading || page === newest) continue;
      pages.delete(key);
      characters -= page.characters;
    }
  }

  async function load(organizationNumber: number, page: Kept, bounds: { lastSeq: number; headSeq: number }) {
    page.isLoading = true;
    try {
      const read = await events(organizationNumber, { afterSeq: page.coveredTo, limit: PAGE_SEQS });
      for (const entry of read) {
        if (entry.seq > bounds.lastSeq || entry.seq > bounds.headSeq) break;
        page.entries.push(entry);
        page.types |= maskOfSelector(entry.type) ?? NO_EVENTS;
        page.characters += entry.envelope.length + ENTRY_CHARACTERS;
        characters += entry.envelope.length + ENTRY_CHARACTERS;
      }
      page.coveredTo = Math.min(bounds.lastSeq, bounds.headSeq);
    } catch (error) {
      page.isLoading = false;
      onFailed(organizationNumber, error);
      return;
    }
    page.isLoading = false;
    dropOldest(page);
    // Some stores answer without a turn of the event loop: a long way through the log would let nobody else have one.
    setImmediate(() => onLoaded(organizationNumber));
  }

  return {
    find(organizationNumber, seq, headSeq) {
      const index = Math.floor(seq / PAGE_SEQS);
      const key = `${organizationNumber} ${index}`;
      const page = pages.get(key) ?? {
        entries: [],
        coveredTo: index * PAGE_SEQS - 1,
        types: NO_EVENTS,
        characters: 0,
        isLoading: false,
      };
      keep(key, page);
      if (page.coveredTo >= seq) return page;
      if (!page.isLoading) void load(organizationNumber, page, { lastSeq: (index + 1) * PAGE_SEQS - 1, headSeq });
      return null;
    },
  };
}

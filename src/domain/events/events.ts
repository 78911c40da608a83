/** Reads the event log. */

import type { Organization } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { bindFilter, invalidCursor, openCursor, toCursorPage } from '../management/listing.ts';
import { requireRange } from '../reasons.ts';
import { retentionStartMs } from '../retention-terms.ts';
import type { StoredEvent } from './event.ts';
import { REQUEST_EVENT_TYPES, type RequestEventType } from './event-type.ts';
import type { EventStore } from './log-port.ts';

type EventsDeps = { readonly store: EventStore; readonly cursors: CursorCodec };

type ListEvents = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: every type. */
  readonly type: string | null;
  /** Empty: the first page. */
  readonly cursor: string;
  readonly limit: number | null;
};

type EventPage = { readonly events: readonly StoredEvent[]; readonly nextCursor: string | null };

export type Events = {
  /** Throws validation_error when `fromMs` is after `toMs`, invalid_cursor for a cursor of another list. */
  list(organization: Organization, request: ListEvents, nowMs: number): Promise<EventPage>;
  /** Throws webhook_event_not_found. */
  get(organization: Organization, id: string, nowMs: number): Promise<StoredEvent>;
};

const LIMIT_DEFAULT = 50;
const CURSOR_MAX_CHARACTERS = 1_024;
const ID_MAX_CHARACTERS = 600;
const EMPTY: EventPage = { events: [], nextCursor: null };

export function createEvents(deps: EventsDeps): Events {
  return {
    async list(organization, request, nowMs) {
      const { fromMs, toMs, type } = request;
      requireRange(fromMs, toMs);
      const binding = ['events', organization.id, String(fromMs), String(toMs), bindFilter(type)];
      const listScope = { cursors: deps.cursors, binding, positionOf: (event: StoredEvent) => event };
      if (request.cursor.length > CURSOR_MAX_CHARACTERS) throw invalidCursor();
      const after = openCursor(listScope, request.cursor);
      if (type !== null && !isListed(type)) return EMPTY;
      const limit = request.limit ?? LIMIT_DEFAULT;
      const found = await deps.store.list({
        organization,
        fromMs: Math.max(fromMs, retentionStartMs(nowMs)),
        toMs,
        type,
        after,
        // The extra event shows whether more remain.
        limit: limit + 1,
      });
      const { items, nextCursor } = toCursorPage(found, limit, listScope);
      return { events: items, nextCursor };
    },

    async get(organization, id, nowMs) {
      const event =
        [...id].length > ID_MAX_CHARACTERS ? null : await deps.store.find(organization, id, retentionStartMs(nowMs));
      if (!event) throw new Fault('webhook_event_not_found', 'Event not found.');
      return event;
    },
  };
}

function isListed(type: string): type is RequestEventType {
  return (REQUEST_EVENT_TYPES as readonly string[]).includes(type);
}

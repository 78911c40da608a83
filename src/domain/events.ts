/** Reading the log of emitted events. */

import type { Organization } from './caller.ts';
import type { CursorCodec } from './cursor.ts';
import { REQUEST_EVENT_TYPES, type RequestEventType, type StoredEvent } from './event.ts';
import { Fault, type Reason, validationFault } from './fault.ts';
import { retentionStartMs } from './page.ts';
import type { EventStore } from './store.ts';

export type EventsDeps = { readonly store: EventStore; readonly cursors: CursorCodec };

export type ListEvents = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: every type the log serves. */
  readonly type: string | null;
  /** Empty: the first page. */
  readonly cursor: string;
  readonly limit: number | null;
};

export type EventPage = { readonly events: readonly StoredEvent[]; readonly nextCursor: string | null };

export type Events = {
  /** Throws validation_error when the range is upside down, invalid_cursor for any cursor not of this very question. */
  list(organization: Organization, question: ListEvents, nowMs: number): Promise<EventPage>;
  /** Throws webhook_event_not_found. */
  get(organization: Organization, id: string, nowMs: number): Promise<StoredEvent>;
};

const LIMIT_DEFAULT = 50;
const CURSOR_MAX_CHARACTERS = 1_024;
const ID_MAX_CHARACTERS = 600;
const EMPTY: EventPage = { events: [], nextCursor: null };

export function createEvents(deps: EventsDeps): Events {
  return {
    async list(organization, question, nowMs) {
      const { fromMs, toMs, type } = question;
      if (fromMs > toMs) {
        throw validationFault('query', [
          { field: '(root)', type: 'custom', message: 'from must not be later than to' },
        ]);
      }
      const binding = ['events', organization.id, String(fromMs), String(toMs), type ?? '*'];
      const after = openCursor(deps.cursors, binding, question.cursor);
      if (type !== null && !isListed(type)) return EMPTY;
      const limit = question.limit ?? LIMIT_DEFAULT;
      const found = await deps.store.list({
        organization,
        fromMs: Math.max(fromMs, retentionStartMs(nowMs)),
        toMs,
        type,
        after,
        // One more than asked tells whether anything remains.
        limit: limit + 1,
      });
      const events = found.slice(0, limit);
      const last = events.at(-1);
      const more = found.length > limit && last !== undefined;
      return { events, nextCursor: more ? deps.cursors.seal(binding, [last.createdAtMs, last.id]) : null };
    },

    async get(organization, id, nowMs) {
      const event =
        [...id].length > ID_MAX_CHARACTERS ? null : await deps.store.find(organization, id, retentionStartMs(nowMs));
      if (!event) throw new Fault('webhook_event_not_found', 'Event not found.');
      return event;
    },
  };
}

/** What is wrong with a range whose ends are valid. */
export function rangeProblems(fromMs: number, toMs: number): readonly Reason[] {
  return fromMs > toMs ? [{ field: '(root)', type: 'custom', message: 'from must not be later than to' }] : [];
}

function isListed(type: string): type is RequestEventType {
  return (REQUEST_EVENT_TYPES as readonly string[]).includes(type);
}

function openCursor(
  cursors: CursorCodec,
  binding: readonly string[],
  cursor: string,
): { createdAtMs: number; id: string } | null {
  if (cursor === '') return null;
  const position = cursor.length > CURSOR_MAX_CHARACTERS ? null : cursors.open(binding, cursor);
  const [createdAtMs, id] = position ?? [];
  if (typeof createdAtMs !== 'number' || typeof id !== 'string') {
    throw new Fault('invalid_cursor', 'The cursor is not valid for this list.');
  }
  return { createdAtMs, id };
}

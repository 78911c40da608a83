/** Reading the log of emitted events. */

import type { EventRange, StoredEvent } from '../../domain/event.ts';
import { REQUEST_EVENT_TYPES, type RequestEventType } from '../../domain/event-type.ts';
import { type EventName, parseEventId } from '../../domain/request-event.ts';
import type { EventStore } from '../../domain/store.ts';
import { eventTypes } from '../rows/codes.ts';
import type { Lane, Statement } from './connection.ts';

export function createEventReader(lane: Lane): EventStore {
  async function find(organizationNumber: number, eventId: string, sinceMs: number): Promise<StoredEvent | null> {
    const parsed = parseEventId(eventId);
    // PostgreSQL refuses U+0000 in text, so no event has it in its id.
    if (parsed === null || eventId.includes('\u0000')) return null;
    const { base, name } = parsed;
    const values = [organizationNumber, base, eventId, sinceMs];
    const numbers = name.kind === 'correction' ? [name.number] : [];
    const [event] = await lane.ask<StoredEvent>(FIND[name.kind], [...values, ...numbers]);
    return event ?? null;
  }

  function list({ organization, fromMs, toMs, type, after, limit }: EventRange): Promise<readonly StoredEvent[]> {
    const pages = type === null ? PAGES : PAGES_OF_TYPE[type];
    return after === null
      ? lane.ask(pages.first, [organization.number, fromMs, limit, toMs])
      : lane.ask(pages.next, [organization.number, fromMs, limit, after.createdAtMs, after.id]);
  }

  return {
    list,
    find: (organization, eventId, sinceMs) => find(organization.number, eventId, sinceMs),
  };
}

const EVENT_SELECT = `SELECT created_at AS "createdAtMs", id, envelope FROM events`;

/**
 * One question for each kind of page and type. A type stands in the text: only then can the database use the index of
 * its events, when there is one.
 */
function pageStatements(name: string, condition: string): { readonly first: Statement; readonly next: Statement } {
  const page = (end: string) =>
    `${EVENT_SELECT}
     WHERE organization_number = $1 AND created_at >= $2 AND created_at <= $4 ${end} ${condition}
     ORDER BY created_at DESC, id DESC LIMIT $3`;
  return {
    first: { name: `list-${name}`, text: page('') },
    // The bound by time alone says nothing new, but it is what months are left out by.
    next: { name: `list-${name}-after`, text: page('AND (created_at, id) < ($4, $5)') },
  };
}

// Other events are among them, which only receivers see.
const PAGES = pageStatements(
  'events',
  `AND type IN (${REQUEST_EVENT_TYPES.map((type) => eventTypes.code(type)).join(', ')})`,
);

const PAGES_OF_TYPE = {
  'gateway.request.completed': pageStatements('completed-events', ofType('gateway.request.completed')),
  'gateway.request.settled': pageStatements('settled-events', ofType('gateway.request.settled')),
} as const satisfies Record<RequestEventType, unknown>;

function ofType(type: RequestEventType): string {
  return `AND type = ${eventTypes.code(type)}`;
}

// Each inner question is a point read that names the month of the next one.
function findStatement(kind: EventName['kind'], column: string): Statement {
  return {
    name: `find-${kind}-event`,
    text: `${EVENT_SELECT}
      WHERE organization_number = $1 AND id = $3 AND created_at >= $4 AND created_at = (
        SELECT ${column} FROM requests
        WHERE organization_number = $1 AND request_key = $2 AND kept_at = (
          SELECT kept_at FROM request_keys WHERE organization_number = $1 AND request_key = $2
        )
      )`,
  };
}

const FIND = {
  completed: findStatement('completed', 'completed_at'),
  settled: findStatement('settled', 'settled_at'),
  // Beyond the earlier ones there is the last, whose id says whether it is the one.
  correction: findStatement(
    'correction',
    `coalesce((string_to_array(earlier_corrections, ','))[$5::integer]::bigint, correction_at)`,
  ),
} as const satisfies Record<EventName['kind'], Statement>;

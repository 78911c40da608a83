/** Finds an event by its id: its request tells when it was created, which names its month. SQLite has no months. */

import type { StoredEvent } from '../../../domain/event.ts';
import { type EventName, parseEventId } from '../../../domain/request-event.ts';
import type { EventStore } from '../../../domain/store.ts';
import type { Lane, Statement } from './connection.ts';

export function createEventFinder(lane: Lane): EventStore['find'] {
  return async (organization, eventId, sinceMs) => {
    const parsed = parseEventId(eventId);
    // PostgreSQL refuses U+0000 in text, so no event has it in its id.
    if (parsed === null || eventId.includes('\u0000')) return null;
    const { base, name } = parsed;
    const values = [organization.number, base, eventId, sinceMs];
    const numbers = name.kind === 'correction' ? [name.number] : [];
    const [event] = await lane.ask<StoredEvent>(FIND[name.kind], [...values, ...numbers]);
    return event ?? null;
  };
}

// Each inner question is a point read that names the month of the next one.
function findStatement(kind: EventName['kind'], column: string): Statement {
  return {
    name: `find-${kind}-event`,
    text: `SELECT created_at AS "createdAtMs", id, envelope FROM events
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
    `coalesce((earlier_corrections::jsonb ->> ($5::integer - 1))::bigint, correction_at)`,
  ),
} as const satisfies Record<EventName['kind'], Statement>;

/** Reading the log of emitted events. */

import type { EventRange } from '../../domain/events/event.ts';
import type { RequestEventType } from '../../domain/events/event-type.ts';
import { type EventName, parseEventId } from '../../domain/events/request-event.ts';
import type { EventStore, RequestStore } from '../../domain/store.ts';
import type { Found, LookUps } from '../append/reader.ts';
import type { Compiled, QueryRunner } from '../queries.ts';
import type * as source from './queries.ts';

export type EventQueries = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

const LISTS = {
  'gateway.request.completed': 'listCompletedEvents',
  'gateway.request.settled': 'listSettledEvents',
} as const satisfies Record<RequestEventType, keyof EventQueries>;

export function createEventList({ queries, runQuery }: QueryRunner<EventQueries>): EventStore['list'] {
  return ({ organization, fromMs, toMs, type, after, limit }: EventRange) =>
    runQuery(queries[type === null ? 'listEvents' : LISTS[type]], {
      organizationNumber: organization.number,
      fromMs,
      limit,
      ...(after === null
        ? { toMs, atMs: toMs + 1, id: '' }
        : { toMs: after.createdAtMs, atMs: after.createdAtMs, id: after.id }),
    });
}

/** Finds an event by its id. Its request row holds when the event was created, which is part of its key in the log. */
export function createEventFinder({ findRequest, findEvent }: LookUps): EventStore['find'] {
  return async (organization, eventId, sinceMs) => {
    const parsed = parseEventId(eventId);
    if (parsed === null) return null;
    const organizationNumber = organization.number;
    const [request] = await findRequest({ organizationNumber, key: parsed.base });
    const createdAtMs = request === undefined ? null : createdAtOf(parsed.name, request);
    if (createdAtMs === null || createdAtMs < sinceMs) return null;
    const [event] = await findEvent({ organizationNumber, createdAtMs, id: eventId });
    return event === undefined ? null : { id: eventId, createdAtMs, envelope: event.envelope };
  };
}

/** When an event of a request was created; null for a correction that the row does not have. */
export function createdAtOf(name: EventName, request: Found<'findRequest'>): number | null {
  if (name.kind !== 'correction') return name.kind === 'completed' ? request.completedEvent : request.settledEvent;
  const earlier: readonly number[] = JSON.parse(request.earlierCorrections ?? '[]');
  return [...earlier, request.correctionEvent][name.number - 1] ?? null;
}

export function createOldestAdmitted({
  queries,
  runQuery,
}: QueryRunner<EventQueries>): RequestStore['oldestAdmittedAtMs'] {
  return async () => (await runQuery(queries.findOldestAdmitted, {}))[0]?.receivedAtMs ?? null;
}

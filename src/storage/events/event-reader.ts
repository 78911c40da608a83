/** Reading the log of emitted events. */

import type { EventRange } from '../../domain/event.ts';
import type { RequestEventType } from '../../domain/event-type.ts';
import { type EventName, parseEventId } from '../../domain/request-event.ts';
import type { EventStore, RequestStore } from '../../domain/store.ts';
import type { Found, LookUps } from '../append/reader.ts';
import type { Asking, Compiled } from '../questions.ts';
import type * as source from './questions.ts';

export type EventQuestions = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

const LISTS = {
  'gateway.request.completed': 'listCompletedEvents',
  'gateway.request.settled': 'listSettledEvents',
} as const satisfies Record<RequestEventType, keyof EventQuestions>;

export function createEventList({ questions, ask }: Asking<EventQuestions>): EventStore['list'] {
  return ({ organization, fromMs, toMs, type, after, limit }: EventRange) =>
    ask(questions[type === null ? 'listEvents' : LISTS[type]], {
      organizationNumber: organization.number,
      fromMs,
      limit,
      ...(after === null
        ? { toMs, atMs: toMs + 1, id: '' }
        : { toMs: after.createdAtMs, atMs: after.createdAtMs, id: after.id }),
    });
}

/** Finds an event by its id: its request tells when it was created, which is where the log has it. */
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

/** When an event of a request was created; the row has the last correction apart from those before. */
export function createdAtOf(name: EventName, request: Found<'findRequest'>): number | null {
  if (name.kind !== 'correction') return name.kind === 'completed' ? request.completedEvent : request.settledEvent;
  const earlier: readonly number[] = JSON.parse(request.earlierCorrections ?? '[]');
  return [...earlier, request.correctionEvent][name.number - 1] ?? null;
}

export function createOldestAdmitted({ questions, ask }: Asking<EventQuestions>): RequestStore['oldestAdmittedAtMs'] {
  return async () => (await ask(questions.findOldestAdmitted, {}))[0]?.receivedAtMs ?? null;
}

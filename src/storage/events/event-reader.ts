/** Reading the log of emitted events. */

import type { EventRange } from '../../domain/event.ts';
import type { RequestEventType } from '../../domain/event-type.ts';
import type { EventStore, RequestStore } from '../../domain/store.ts';
import type { Asking, Compiled } from '../questions.ts';
import type * as source from './questions.ts';

type EventQuestions = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

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

export function createOldestAdmitted({ questions, ask }: Asking<EventQuestions>): RequestStore['oldestAdmittedAtMs'] {
  return async () => (await ask(questions.findOldestAdmitted, {}))[0]?.receivedAtMs ?? null;
}

/** What happened to the deliveries of an endpoint, for those who ask. */

import type { DescendingPage, WebhookStore } from '../../domain/webhook-store.ts';
import type { Ask } from '../questions.ts';
import type { EndpointQuestions } from './stores.ts';

export type DeliveryLogReader = Pick<WebhookStore, 'attempts' | 'delivery' | 'attemptsOf' | 'deadLetters'>;

const AFTER_ALL = { atMs: Number.MAX_SAFE_INTEGER, id: '' };

export function createDeliveryLogReader(questions: EndpointQuestions['endpoints'], ask: Ask): DeliveryLogReader {
  return {
    attempts: async (endpointNumber, page) =>
      (await ask(questions.listAttempts, { endpointNumber, ...placeOf(page) })).map(withEventIds),
    async delivery(endpointNumber, dispatchId) {
      const [row] = await ask(questions.findDelivery, { endpointNumber, dispatchId });
      return row === undefined ? null : withEventIds(row);
    },
    attemptsOf: async (endpointNumber, dispatchId, limit) =>
      (await ask(questions.listAttemptsOf, { endpointNumber, dispatchId, limit })).map(withEventIds),
    deadLetters: async (endpointNumber, page) =>
      (await ask(questions.listDead, { endpointNumber, ...placeOf(page) })).map(withEventIds),
  };
}

function placeOf({ after, limit }: DescendingPage) {
  return { ...(after ?? AFTER_ALL), limit };
}

function withEventIds<Row extends { readonly eventIdsJson: string }>({ eventIdsJson, ...row }: Row) {
  return { ...row, eventIds: JSON.parse(eventIdsJson) as string[] };
}

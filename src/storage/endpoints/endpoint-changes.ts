/** Endpoints as those see them who deliver to them. */

import type { Subscription } from '../../domain/endpoint.ts';
import type { DeliveryStore } from '../../domain/webhook-store.ts';
import type { Ask } from '../questions.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import type { EndpointQuestions } from './stores.ts';

export function createChangesReader(questions: EndpointQuestions['endpoints'], ask: Ask): DeliveryStore['changes'] {
  return async (afterChange) => {
    // First: changes commit in the order of their numbers, so the rows hold all up to this one. What changes meanwhile
    // has a higher number, and is read again.
    const [{ change } = { change: 0 }] = await ask(questions.findChange, {});
    if (change <= afterChange) return { change, endpoints: [] };
    const rows = await ask(afterChange === 0 ? questions.listLiving : questions.listChanged, { afterChange });
    const replays = Map.groupBy(
      await ask(questions.listRunningReplays, { afterChange }),
      ({ endpointNumber }) => endpointNumber,
    );
    const endpoints = rows.map(({ subscriptionsJson, ...row }) => ({
      ...unpackEndpoint(row),
      subscriptions: JSON.parse(subscriptionsJson) as Subscription[],
      replays: (replays.get(row.number) ?? []).map(({ endpointNumber: _, ...replay }) => replay),
    }));
    return { change, endpoints };
  };
}

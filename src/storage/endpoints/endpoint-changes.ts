/** Endpoints as those see them who deliver to them. */

import type { DeliveryStore } from '../../domain/webhook-store.ts';
import type { Ask, Compiled } from '../questions.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import { parseSubscriptions } from '../rows/webhook-texts.ts';
import type * as source from './questions.ts';

export type ChangeQuestions = {
  readonly [Name in 'findChange' | 'listChanged' | 'listLiving' | 'listRunningReplays']: Compiled<
    (typeof source)[Name]
  >;
};

export function createChangesReader(questions: ChangeQuestions, ask: Ask): DeliveryStore['changes'] {
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
      subscriptions: parseSubscriptions(subscriptionsJson),
      replays: (replays.get(row.number) ?? []).map(({ endpointNumber: _, ...replay }) => replay),
    }));
    return { change, endpoints };
  };
}

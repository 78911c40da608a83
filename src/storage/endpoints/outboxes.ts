/** What endpoints get of the log that is in no delivery yet: what lies behind their positions. */

import type { Subscription } from '../../domain/endpoint.ts';
import type { EventMask } from '../../domain/event-type.ts';
import { dropPassed } from '../../domain/subscriptions.ts';
import type { WebhookStore } from '../../domain/webhook-store.ts';
import type { Ask } from '../questions.ts';
import type { EndpointQuestions } from './webhook-store.ts';

export type OutboxCount = { readonly events: number; readonly oldestAtMs: number | null };

export type Outboxes = {
  count(endpointNumber: number): Promise<OutboxCount>;
  /** When the oldest event of any of them was created; null when there is none. */
  oldestAtMs(places: readonly Place[]): Promise<number | null>;
};

/** Where an endpoint stands in its log. */
export type Place = {
  readonly organizationNumber: number;
  readonly position: number;
  /** Null where nothing was ever appended. */
  readonly headSeq: number | null;
  readonly subscriptionsJson: string;
};

/** A part of the log from which an endpoint gets some types, both ends included. */
export type LogPart = {
  readonly organizationNumber: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly mask: EventMask;
};

/** How a store looks through a log for events of some types. */
export type LogSearch = Pick<WebhookStore, 'matchEvents'> & {
  count(part: LogPart): Promise<OutboxCount>;
  findFirst(part: LogPart): Promise<FoundEvent | null>;
};

export type FoundEvent = { readonly seq: number; readonly createdAtMs: number };

const FOR_EVER = Number.MAX_SAFE_INTEGER;

export function createOutboxes({ endpointsDue }: EndpointQuestions, ask: Ask, search: LogSearch): Outboxes {
  return {
    async count(endpointNumber) {
      const places = await ask(endpointsDue.findPlace, { endpointNumber });
      let count: OutboxCount = { events: 0, oldestAtMs: null };
      for (const part of places.flatMap(partsOf)) {
        const { events, oldestAtMs } = await search.count(part);
        count = { events: count.events + events, oldestAtMs: count.oldestAtMs ?? oldestAtMs };
      }
      return count;
    },
    async oldestAtMs(places) {
      const oldest = new Map<number, FoundEvent>();
      for (const part of joinParts(places.flatMap(partsOf))) {
        const before = oldest.get(part.organizationNumber)?.seq ?? FOR_EVER;
        const found = await search.findFirst({ ...part, toSeq: Math.min(part.toSeq, before - 1) });
        if (found !== null) oldest.set(part.organizationNumber, found);
      }
      return findLeast([...oldest.values()].map(({ createdAtMs }) => createdAtMs));
    },
  };
}

/** There may be more of them than a call has room for. */
export function findLeast(instants: readonly number[]): number | null {
  return instants.length === 0 ? null : instants.reduce((one, other) => Math.min(one, other));
}

function partsOf({ organizationNumber, position, headSeq, subscriptionsJson }: Place): readonly LogPart[] {
  const known = dropPassed(JSON.parse(subscriptionsJson) as Subscription[], position);
  return known
    .map(({ fromSeq, mask }, index) => ({
      organizationNumber,
      fromSeq: Math.max(fromSeq, position + 1),
      toSeq: Math.min(headSeq ?? 0, (known[index + 1]?.fromSeq ?? FOR_EVER) - 1),
      mask,
    }))
    .filter(({ fromSeq, toSeq, mask }) => mask !== 0 && fromSeq <= toSeq);
}

/** Many endpoints wait for the same types up to the same place: the longest of such parts holds the others. */
function joinParts(parts: readonly LogPart[]): readonly LogPart[] {
  const joined = new Map<string, LogPart>();
  for (const part of parts) {
    const key = `${part.organizationNumber}/${part.toSeq}/${part.mask}`;
    const known = joined.get(key);
    if (known === undefined || part.fromSeq < known.fromSeq) joined.set(key, part);
  }
  return [...joined.values()];
}

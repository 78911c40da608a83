/** How an endpoint fares, and how much of the log a replay would be about. */

import * as questions from '../../../gen/storage/sqlite/endpoints.ts';
import type { WebhookStore } from '../../domain/webhook-store.ts';
import { createHealthReader } from '../endpoints/endpoint-health.ts';
import { createAsk } from './ask.ts';
import type { Database } from './connection.ts';
import { prepareEventCount } from './event-count.ts';
import { prepareOutbox } from './outbox.ts';
import type { ReadLane } from './read-lane.ts';

export type HealthReader = Pick<WebhookStore, 'health' | 'matchEvents'>;

export function prepareHealthReader(db: Database, lane: ReadLane): HealthReader {
  const countEvents = prepareEventCount(db, lane);
  const { count: countOutbox } = prepareOutbox(db, lane, countEvents);
  const head = db.prepare<[number], number>('SELECT seq FROM log_heads WHERE organization_number = ?').pluck();
  return {
    health: createHealthReader({ questions, ask: createAsk(db, lane), countOutbox }),
    // The log is long, and is counted a little at a time: only here, where all else waits for it.
    async matchEvents(organizationNumber, { fromMs, toMs, sinceMs, mask }) {
      // What is appended while it is counted is not meant.
      const toSeq = await lane(() => head.get(organizationNumber) ?? 0);
      const part = { organizationNumber, fromMs: Math.max(fromMs, sinceMs), toMs, fromSeq: 1, toSeq };
      const { matched, firstSeq, lastSeq } = await countEvents(part, mask);
      return { fromSeq: firstSeq ?? 1, toSeq: lastSeq ?? 0, matched };
    },
  };
}

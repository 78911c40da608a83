/** What those read who deliver. Nothing here takes longer than a small page at once. */

import * as questions from '../../../gen/storage/sqlite/endpoints.ts';
import type { DeliveryStore, LogEntry } from '../../domain/webhook-store.ts';
import { createChangesReader } from '../endpoints/endpoint-changes.ts';
import { createAsk } from './ask.ts';
import type { Database } from './connection.ts';
import { prepareCounts } from './delivery-counts.ts';
import { prepareDue } from './delivery-due.ts';
import { readEnvelopeHead } from './envelope-head.ts';
import { inParts } from './in-parts.ts';
import type { ReadLane } from './read-lane.ts';

export type DeliveryReader = Pick<DeliveryStore, 'changes' | 'heads' | 'events' | 'envelopes' | 'due' | 'counts'>;

export function prepareDeliveryReader(db: Database, lane: ReadLane): DeliveryReader {
  const statements = prepareStatements(db);
  const due = prepareDue(db);
  return {
    changes: createChangesReader(questions, createAsk(db, lane)),
    heads: () => lane(() => statements.heads.all()),
    events: (organizationNumber, { afterSeq, limit }) =>
      lane(() => statements.events.all(organizationNumber, afterSeq, limit).map(toEntry)),
    // On SQLite nothing is kept apart by time.
    envelopes: (organizationNumber, seqs, _created) =>
      lane(() => statements.envelopes.all(organizationNumber, JSON.stringify(seqs)).map(toEntry)),
    async due(endpointNumbers, question) {
      const lists = await inParts(endpointNumbers, (some) =>
        lane(() => some.map((endpointNumber) => due(endpointNumber, question))),
      );
      return lists.flat();
    },
    counts: prepareCounts(db, lane),
  };
}

type EventRow = { readonly seq: number; readonly envelope: string };

function toEntry({ seq, envelope }: EventRow): LogEntry {
  return { seq, ...readEnvelopeHead(envelope), envelope };
}

function prepareStatements(db: Database) {
  const events = 'SELECT seq, envelope FROM events WHERE organization_number = ?';
  return {
    heads: db.prepare<[], { organizationNumber: number; seq: number }>(
      'SELECT organization_number AS organizationNumber, seq FROM log_heads',
    ),
    events: db.prepare<[number, number, number], EventRow>(`${events} AND seq > ? ORDER BY seq LIMIT ?`),
    envelopes: db.prepare<[number, string], EventRow>(
      `${events} AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    ),
  };
}

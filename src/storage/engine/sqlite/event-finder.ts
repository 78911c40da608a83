/** Finds an event by its id: the request tells its place in the log, by which SQLite alone keeps envelopes. */

import type { StoredEvent } from '../../../domain/event.ts';
import { type EventKind, type EventName, parseEventId } from '../../../domain/request-event.ts';
import type { EventStore } from '../../../domain/store.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database, ReadLane } from './connection.ts';

type Seqs = { readonly [K in EventKind]: number | null } & { readonly earlierCorrections: string | null };

export function prepareEventFinder(db: Database, lane: ReadLane): EventStore['find'] {
  const statements = prepareStatements(db);

  function find(organizationNumber: number, eventId: string, sinceMs: number): StoredEvent | null {
    const parsed = parseEventId(eventId);
    if (parsed === null) return null;
    const seqs = statements.seqs.get(organizationNumber, packRequestKey(parsed.base));
    const seq = seqs === undefined ? null : seqOf(parsed.name, seqs);
    if (seq === null) return null;
    const envelope = statements.envelope.get(organizationNumber, seq);
    if (envelope === undefined) return null;
    // The envelope says all there is to know, so the row says none of it a second time.
    const { id, created } = JSON.parse(envelope) as { id: string; created: string };
    const createdAtMs = Date.parse(created);
    return id === eventId && createdAtMs >= sinceMs ? { id, createdAtMs, envelope } : null;
  }

  return (organization, eventId, sinceMs) => lane(() => find(organization.number, eventId, sinceMs));
}

/** The row has the last correction apart from those before. */
function seqOf(name: EventName, seqs: Seqs): number | null {
  if (name.kind !== 'correction') return seqs[name.kind];
  const earlier: readonly number[] = JSON.parse(seqs.earlierCorrections ?? '[]');
  return [...earlier, seqs.correction][name.number - 1] ?? null;
}

function prepareStatements(db: Database) {
  return {
    seqs: db.prepare<[number, StoredId], Seqs>(
      `SELECT completed_seq AS completed, settled_seq AS settled, correction_seq AS correction,
         earlier_corrections AS earlierCorrections
       FROM requests WHERE organization_number = ? AND request_key = ?`,
    ),
    envelope: db
      .prepare<[number, number], string>('SELECT envelope FROM events WHERE organization_number = ? AND seq = ?')
      .pluck(),
  };
}

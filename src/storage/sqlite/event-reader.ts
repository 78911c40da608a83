/** Reading the log of emitted events. */

import type { EventRange, StoredEvent } from '../../domain/event.ts';
import { type EventKind, type EventName, parseEventId } from '../../domain/request-event.ts';
import type { EventStore } from '../../domain/store.ts';
import { eventTypes } from '../rows/codes.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';

type Seqs = { readonly [K in EventKind]: number | null } & { readonly earlierCorrections: string | null };

export function prepareEventReader(db: Database, lane: ReadLane): EventStore {
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

  return {
    list: (range) => lane(() => statements.list(range)),
    find: (organization, eventId, sinceMs) => lane(() => find(organization.number, eventId, sinceMs)),
  };
}

/** The row has the last correction apart from those before. */
function seqOf(name: EventName, seqs: Seqs): number | null {
  if (name.kind !== 'correction') return seqs[name.kind];
  const earlier: readonly number[] = JSON.parse(seqs.earlierCorrections ?? '[]');
  return [...earlier, seqs.correction][name.number - 1] ?? null;
}

function prepareStatements(db: Database) {
  const page = (condition: string) =>
    db.prepare<(number | string)[], StoredEvent>(
      `SELECT time.created_at AS createdAtMs, time.id, events.envelope
       FROM events_by_time AS time
       JOIN events ON events.organization_number = time.organization_number AND events.seq = time.seq
       WHERE time.organization_number = ? AND time.created_at >= ? AND ${condition}
       ORDER BY time.created_at DESC, time.id DESC LIMIT ?`,
    );
  const pages = {
    first: page('time.created_at <= ?'),
    firstOfType: page('time.created_at <= ? AND time.type = ?'),
    next: page('(time.created_at, time.id) < (?, ?)'),
    nextOfType: page('(time.created_at, time.id) < (?, ?) AND time.type = ?'),
  };
  return {
    list: ({ organization, fromMs, toMs, type, after, limit }: EventRange): readonly StoredEvent[] => {
      const bound = after === null ? [toMs] : [after.createdAtMs, after.id];
      if (type === null)
        return (after === null ? pages.first : pages.next).all(organization.number, fromMs, ...bound, limit);
      const statement = after === null ? pages.firstOfType : pages.nextOfType;
      return statement.all(organization.number, fromMs, ...bound, eventTypes.code(type), limit);
    },
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

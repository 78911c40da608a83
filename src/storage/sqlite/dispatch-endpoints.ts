/** Endpoints as those see them who deliver to them. */

import type { DeliveryStore, DispatchEndpoint, RunningReplay } from '../../domain/webhook-store.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import { replayStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';
import { ENDPOINT_COLUMNS, ENDPOINT_TABLES, type EndpointRow } from './endpoint-reader.ts';

type Changes = Awaited<ReturnType<DeliveryStore['changes']>>;

export function prepareChanges(db: Database): (afterChange: number) => Changes {
  const statements = prepareStatements(db);
  // Inside a transaction, so that the number is that of the rows.
  return db.transaction((afterChange: number): Changes => {
    const change = statements.change.get() ?? 0;
    const rows = afterChange === 0 ? statements.living.all() : statements.changed.all(afterChange);
    return { change, endpoints: rows.map((row) => toDispatched(row, statements.replays.all(row.number))) };
  });
}

type Row = EndpointRow & Pick<DispatchEndpoint, 'position' | 'inFlight'> & { readonly subscriptions: string };

function toDispatched(row: Row, replays: readonly RunningReplay[]): DispatchEndpoint {
  const { subscriptions, ...endpoint } = unpackEndpoint(row);
  return { ...endpoint, subscriptions: JSON.parse(subscriptions), replays };
}

function prepareStatements(db: Database) {
  const select = `SELECT ${ENDPOINT_COLUMNS}, s.position, s.in_flight AS inFlight, s.subscriptions FROM ${ENDPOINT_TABLES}`;
  return {
    change: db.prepare<[], number>('SELECT number FROM webhook_changes').pluck(),
    living: db.prepare<[], Row>(`${select} WHERE e.archived_at IS NULL ORDER BY e.number`),
    changed: db.prepare<[number], Row>(`${select} WHERE e.change_number > ? ORDER BY e.number`),
    replays: db.prepare<[number], RunningReplay>(
      `SELECT number, id, position, to_seq AS toSeq, mask, created_at AS createdAtMs
       FROM webhook_replays
       WHERE endpoint_number = ? AND status = ${replayStatuses.code('running')} ORDER BY number`,
    ),
  };
}

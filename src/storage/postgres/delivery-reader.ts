/** What those who deliver know of endpoints. */

import type { DeliveryStore, DispatchEndpoint, RunningReplay } from '../../domain/webhook-store.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import { replayStatuses } from '../rows/webhook-codes.ts';
import { parseSubscriptions } from '../rows/webhook-texts.ts';
import type { Lane, Statement } from './connection.ts';
import { ENDPOINT_COLUMNS, ENDPOINT_TABLES, type EndpointRow } from './webhook-rows.ts';

/** See DeliveryStore.changes. */
export async function readChanges(lane: Lane, afterChange: number): ReturnType<DeliveryStore['changes']> {
  const rows = await lane.ask<ChangedRow | NoneChanged>(CHANGES, [afterChange]);
  const [{ change } = { change: afterChange }] = rows;
  return { change, endpoints: rows.flatMap((row) => (row.number === null ? [] : [toDispatchEndpoint(row)])) };
}

type ChangedRow = EndpointRow &
  Pick<DispatchEndpoint, 'position' | 'inFlight'> & {
    readonly change: number;
    readonly changeNumber: number;
    readonly subscriptions: string;
    readonly replays: readonly RunningReplay[];
  };
type NoneChanged = { readonly change: number; readonly number: null };

function toDispatchEndpoint({ change: _change, changeNumber: _number, ...row }: ChangedRow): DispatchEndpoint {
  return { ...unpackEndpoint(row), subscriptions: parseSubscriptions(row.subscriptions) };
}

// One statement sees one moment: whatever has a number up to the one answered is in the answer.
const CHANGES: Statement = {
  name: 'delivery-changes',
  text: `SELECT changes.number AS change, changed.*
    FROM webhook_changes AS changes LEFT JOIN (
      SELECT ${ENDPOINT_COLUMNS}, endpoints.change_number AS "changeNumber", states.position, states.in_flight AS "inFlight",
        states.subscriptions, coalesce(running.replays, '[]') AS replays
      FROM ${ENDPOINT_TABLES} LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object(
          'number', number, 'id', id, 'position', position, 'toSeq', to_seq, 'mask', mask, 'createdAtMs', created_at
        ) ORDER BY number) AS replays
        FROM webhook_replays WHERE endpoint_number = endpoints.number AND status = ${replayStatuses.code('running')}
      ) AS running ON true
    ) AS changed ON changed."changeNumber" > $1 AND ($1 <> 0 OR changed."archivedAtMs" IS NULL)`,
};

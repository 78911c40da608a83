/** What large traces keep of their spans, beside the columns that append_batch stores. */

import type pg from 'pg';
import type { Statement } from './connection.ts';
import type { Written } from './working-set.ts';

/** Whether nothing is to follow what append_batch stores: of almost all batches. */
export function isOneStatement({ traces }: Written): boolean {
  for (const { record } of traces.values()) if (record.aggregatesJson !== null) return false;
  return true;
}

/** In the transaction of a batch, once it is written. */
export async function keepAggregates(client: pg.ClientBase, { traces }: Written): Promise<void> {
  const kept = [...traces.values()].filter(({ record }) => record.aggregatesJson !== null);
  if (kept.length === 0) return;
  const values = [
    kept.map(({ place }) => place.projectNumber),
    kept.map(({ place }) => place.traceId),
    kept.map(({ record }) => record.aggregatesJson),
  ];
  await client.query({ ...KEEP, values });
}

const KEEP: Statement = {
  name: 'keep-aggregates',
  text: `UPDATE traces SET aggregates = given.aggregates
    FROM unnest($1::integer[], $2::text[], $3::text[]) AS given (project_number, trace_id, aggregates)
    WHERE traces.project_number = given.project_number AND traces.trace_id = given.trace_id`,
};

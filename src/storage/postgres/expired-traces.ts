/**
 * Removes traces that are past their term, with all that belongs to them. The table is walked by its pages: freed
 * room is used again, so that after a while traces of every age lie next to each other. A trace too large for one
 * step is put out of reach first: under the negative number of its project no question finds it, and what is left of
 * it goes with the steps to come, whatever its project chooses meanwhile.
 */

import type pg from 'pg';
import type { TraceCut } from '../../domain/store.ts';
import { DONE, type Task } from './retention-task.ts';

type Expired = {
  readonly projectNumber: number;
  readonly traceId: string;
  readonly sequence: number;
  /** Spans and evaluations, or more than a step may remove. */
  readonly parts: number;
};

type Window = { readonly firstPage: number; readonly endPage: number };

/** Goes on at a page of the table. `endPage` is the first page that was not there when the walk began. */
export function removeExpiredTraces(cuts: readonly TraceCut[], firstPage = 0, endPage: number | null = null): Task {
  return async (client, rowsMax) => {
    const hidden = await findHidden(client);
    if (hidden !== undefined) {
      const removed = await continueLarge(client, hidden, rowsMax);
      return { next: [removeExpiredTraces(cuts, firstPage, endPage)], removed: { traces: removed } };
    }
    if (cuts.length === 0) return DONE;
    const end = endPage ?? (await countPages(client));
    const window = { firstPage, endPage: firstPage + rowsMax };
    const found = await findExpired(client, cuts, { window, rowsMax });
    const batch = fitting(found, rowsMax);
    const [large] = found;
    if (batch.length > 0) await removeWhole(client, batch);
    else if (large !== undefined) await beginLarge(client, large, rowsMax);
    // Otherwise there may be more of them in these pages.
    const isFinished = batch.length === found.length && found.length < rowsMax;
    const nextPage = isFinished ? window.endPage : firstPage;
    const next = nextPage < end ? [removeExpiredTraces(cuts, nextPage, end)] : [];
    return { next, removed: { traces: batch.length } };
  };
}

/** As many of the first as a step may remove. */
function fitting(found: readonly Expired[], rowsMax: number): readonly Expired[] {
  let rows = 0;
  const end = found.findIndex(({ parts }) => {
    rows += parts + 1;
    return rows > rowsMax;
  });
  return end < 0 ? found : found.slice(0, end);
}

async function countPages(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pages: number }>(
    `SELECT pg_relation_size('traces') / current_setting('block_size')::bigint AS pages`,
  );
  return rows[0]?.pages ?? 0;
}

/** Holds what it answers, and the settings of its projects: a project that changes them now waits for the step. */
async function findExpired(
  client: pg.ClientBase,
  cuts: readonly TraceCut[],
  { window, rowsMax }: { readonly window: Window; readonly rowsMax: number },
): Promise<readonly Expired[]> {
  const { rows } = await client.query<Expired>(
    `SELECT traces.project_number AS "projectNumber", traces.trace_id AS "traceId", traces.sequence,
       traces.span_count + evaluation.count AS parts
     FROM traces
     JOIN projects ON projects.number = traces.project_number
     JOIN unnest($3::integer[], $4::bigint[]) AS cut (stored_days, gone_before)
       ON cut.stored_days IS NOT DISTINCT FROM projects.trace_retention_days
     CROSS JOIN LATERAL (
       SELECT count(*) FROM (
         SELECT FROM evaluations
         WHERE evaluations.project_number = traces.project_number AND evaluations.trace_sequence = traces.sequence
         LIMIT $5
       ) AS counted
     ) AS evaluation
     WHERE traces.ctid >= $1::tid AND traces.ctid < $2::tid AND traces.inserted_at < cut.gone_before
     LIMIT $5
     FOR SHARE OF projects FOR UPDATE OF traces SKIP LOCKED`,
    [
      `(${window.firstPage},0)`,
      `(${window.endPage},0)`,
      cuts.map((cut) => cut.storedDays),
      cuts.map((cut) => cut.goneBeforeMs),
      rowsMax,
    ],
  );
  return rows;
}

async function removeWhole(client: pg.ClientBase, batch: readonly Expired[]): Promise<void> {
  const numbers = batch.map((trace) => trace.projectNumber);
  const sequences = batch.map((trace) => trace.sequence);
  // Few rows out of many, so every other way to find them than by their keys takes longer.
  await client.query(
    'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off',
  );
  for (const table of ['spans', 'evaluations']) {
    await client.query(
      `DELETE FROM ${table} USING unnest($1::integer[], $2::bigint[]) AS gone (project_number, sequence)
       WHERE ${table}.project_number = gone.project_number AND ${table}.trace_sequence = gone.sequence`,
      [numbers, sequences],
    );
  }
  await client.query(
    `DELETE FROM traces USING unnest($1::integer[], $2::text[]) AS gone (project_number, trace_id)
     WHERE traces.project_number = gone.project_number AND traces.trace_id = gone.trace_id`,
    [numbers, batch.map((trace) => trace.traceId)],
  );
}

async function beginLarge(client: pg.ClientBase, trace: Expired, rowsMax: number): Promise<void> {
  await removeParts(client, trace, rowsMax);
  await client.query(
    `UPDATE traces SET project_number = -project_number, trace_id = sequence::text
     WHERE project_number = $1 AND trace_id = $2`,
    [trace.projectNumber, trace.traceId],
  );
}

type Hidden = Pick<Expired, 'projectNumber' | 'traceId' | 'sequence'>;

async function findHidden(client: pg.ClientBase): Promise<Hidden | undefined> {
  const { rows } = await client.query<Hidden>(
    `SELECT -project_number AS "projectNumber", trace_id AS "traceId", sequence
     FROM traces WHERE project_number < 0 ORDER BY project_number, trace_id LIMIT 1`,
  );
  return rows[0];
}

/** Answers how many traces are gone for good by it. */
async function continueLarge(client: pg.ClientBase, hidden: Hidden, rowsMax: number): Promise<number> {
  if ((await removeParts(client, hidden, rowsMax)) === rowsMax) return 0;
  await client.query('DELETE FROM traces WHERE project_number = $1 AND trace_id = $2', [
    -hidden.projectNumber,
    hidden.traceId,
  ]);
  return 1;
}

/** Removes at most so many rows of what belongs to a trace, and answers how many. */
async function removeParts(
  client: pg.ClientBase,
  { projectNumber, sequence }: Pick<Expired, 'projectNumber' | 'sequence'>,
  rowsMax: number,
): Promise<number> {
  const remove = async (table: string, id: string, countMax: number) => {
    const { rowCount } = await client.query(
      `DELETE FROM ${table} WHERE project_number = $1 AND trace_sequence = $2 AND ${id} IN
         (SELECT ${id} FROM ${table} WHERE project_number = $1 AND trace_sequence = $2 ORDER BY ${id} LIMIT $3)`,
      [projectNumber, sequence, countMax],
    );
    return rowCount ?? 0;
  };
  const spans = await remove('spans', 'span_id', rowsMax);
  return spans === rowsMax ? spans : spans + (await remove('evaluations', 'evaluation_id', rowsMax - spans));
}

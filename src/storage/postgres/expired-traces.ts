/**
 * Removes traces that are past their term, with all that belongs to them. The table is walked by its pages: freed
 * room is used again, so that after a while traces of every age lie next to each other. A trace too large for one
 * step is put out of reach first: under the negative number of its project no question finds it, and what is left of
 * it goes with the steps to come, whatever its project chooses meanwhile.
 */

import type pg from 'pg';
import type { TraceCut } from '../../domain/store.ts';
import { DONE, type Task } from './retention-task.ts';

type Key = { readonly projectNumber: number; readonly traceId: string };
type Old = Key & { readonly insertedAtMs: number; readonly place: Place };
type Expired = Key & {
  readonly sequence: number;
  /** Spans and evaluations, or more than a step may remove. */
  readonly parts: number;
};

/** A page of the table and a line on it, as the database writes it. */
type Place = string;

const BEGINNING: Place = '(0,0)';

/** Goes on behind a place. `endPage` is the first page that was not there when the walk began. */
export function removeExpiredTraces(cuts: readonly TraceCut[], after = BEGINNING, endPage: number | null = null): Task {
  return async (client, rowsMax) => {
    const hidden = await findHidden(client);
    if (hidden !== undefined) {
      const removed = await continueLarge(client, hidden, rowsMax);
      return { next: [removeExpiredTraces(cuts, after, endPage)], removed: { traces: removed } };
    }
    if (cuts.length === 0) return DONE;
    const end = endPage ?? (await countPages(client));
    const window = { after, endPage: pageOf(after) + rowsMax };
    const old = await listOld(client, { window, cuts, rowsMax });
    const { removed, seen } = old.length === 0 ? NONE : await removeOld(client, { old, cuts, rowsMax });
    // When there are as many as were asked for, more of them may lie behind on these pages.
    const isFinished = seen === old.length && old.length < rowsMax;
    const next = isFinished ? `(${window.endPage},0)` : (old[seen - 1]?.place ?? after);
    return {
      next: pageOf(next) < end ? [removeExpiredTraces(cuts, next, end)] : [],
      removed: { traces: removed },
    };
  };
}

function pageOf(place: Place): number {
  return Number(/^\((\d+),/.exec(place)?.[1]);
}

async function countPages(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pages: number }>(
    `SELECT pg_relation_size('traces') / current_setting('block_size')::bigint AS pages`,
  );
  return rows[0]?.pages ?? 0;
}

type Look = {
  readonly window: { readonly after: Place; readonly endPage: number };
  readonly cuts: readonly TraceCut[];
  readonly rowsMax: number;
};

/** What is old enough to be past some term, in the order of the places. */
async function listOld(client: pg.ClientBase, { window, cuts, rowsMax }: Look): Promise<readonly Old[]> {
  // The addition keeps the database from using an index, which would lead it all over the table.
  const { rows } = await client.query<Old>(
    `SELECT ctid::text AS place, project_number AS "projectNumber", trace_id AS "traceId",
       inserted_at AS "insertedAtMs"
     FROM traces WHERE ctid > $1::tid AND ctid < $2::tid AND inserted_at + 0 < $3 LIMIT $4`,
    [window.after, `(${window.endPage},0)`, Math.max(...cuts.map((cut) => cut.goneBeforeMs)), rowsMax],
  );
  return rows;
}

type OldBatch = { readonly old: readonly Old[]; readonly cuts: readonly TraceCut[]; readonly rowsMax: number };

type Removal = {
  readonly removed: number;
  /** How many of the old ones were dealt with, the first of them first. */
  readonly seen: number;
};

const NONE: Removal = { removed: 0, seen: 0 };

async function removeOld(client: pg.ClientBase, { old, cuts, rowsMax }: OldBatch): Promise<Removal> {
  const expired = await holdExpired(client, { old, cuts, rowsMax });
  const batch: Expired[] = [];
  let rows = 0;
  let seen = 0;
  for (const { projectNumber, traceId } of old) {
    const trace = expired.get(keyOf(projectNumber, traceId));
    rows += trace === undefined ? 0 : trace.parts + 1;
    if (rows > rowsMax) break;
    if (trace !== undefined) batch.push(trace);
    seen += 1;
  }
  if (batch.length > 0) await removeWhole(client, batch);
  const next = old[seen];
  const large = next === undefined ? undefined : expired.get(keyOf(next.projectNumber, next.traceId));
  if (batch.length > 0 || large === undefined) return { removed: batch.length, seen };
  await beginLarge(client, large, rowsMax);
  return { removed: 0, seen: seen + 1 };
}

function keyOf(projectNumber: number, traceId: string): string {
  return `${projectNumber} ${traceId}`;
}

/** Those that are past the term of their project, held together with the settings of the projects. */
async function holdExpired(client: pg.ClientBase, { old, cuts, rowsMax }: OldBatch): Promise<Map<string, Expired>> {
  const goneBeforeMs = new Map(cuts.map((cut) => [cut.storedDays, cut.goneBeforeMs]));
  const numbers = [...new Set(old.map((trace) => trace.projectNumber))];
  // A project that chooses otherwise from here on waits for the step, which goes by what was chosen before.
  const projects = await client.query<{ number: number; storedDays: number | null }>(
    `SELECT number, trace_retention_days AS "storedDays" FROM projects WHERE number = ANY ($1) FOR SHARE`,
    [numbers],
  );
  const cutOf = new Map(projects.rows.map(({ number, storedDays }) => [number, goneBeforeMs.get(storedDays)]));
  const expired = old.filter((trace) => trace.insertedAtMs < (cutOf.get(trace.projectNumber) ?? 0));
  const { rows } = await client.query<Expired>(
    `SELECT traces.project_number AS "projectNumber", traces.trace_id AS "traceId", traces.sequence,
       traces.span_count + evaluation.count AS parts
     FROM unnest($1::integer[], $2::text[], $3::bigint[]) AS expired (project_number, trace_id, inserted_at)
     JOIN traces ON traces.project_number = expired.project_number AND traces.trace_id = expired.trace_id
       AND traces.inserted_at = expired.inserted_at
     CROSS JOIN LATERAL (
       SELECT count(*) FROM (
         SELECT FROM evaluations
         WHERE evaluations.project_number = traces.project_number AND evaluations.trace_sequence = traces.sequence
         LIMIT $4
       ) AS counted
     ) AS evaluation
     FOR UPDATE OF traces SKIP LOCKED`,
    [
      expired.map((trace) => trace.projectNumber),
      expired.map((trace) => trace.traceId),
      // An append may have begun one anew since.
      expired.map((trace) => trace.insertedAtMs),
      rowsMax,
    ],
  );
  return new Map(rows.map((trace) => [keyOf(trace.projectNumber, trace.traceId), trace]));
}

async function removeWhole(client: pg.ClientBase, batch: readonly Expired[]): Promise<void> {
  const numbers = batch.map((trace) => trace.projectNumber);
  const sequences = batch.map((trace) => trace.sequence);
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
    const ofTrace = 'project_number = $1 AND trace_sequence = $2';
    // A range of the key, because the database does not know how many parts a trace has and may join them badly.
    const { rowCount } = await client.query(
      `DELETE FROM ${table} WHERE ${ofTrace} AND ${id} <= (
         SELECT max(${id}) FROM (SELECT ${id} FROM ${table} WHERE ${ofTrace} ORDER BY ${id} LIMIT $3) AS part
       )`,
      [projectNumber, sequence, countMax],
    );
    return rowCount ?? 0;
  };
  const spans = await remove('spans', 'span_id', rowsMax);
  return spans === rowsMax ? spans : spans + (await remove('evaluations', 'evaluation_id', rowsMax - spans));
}

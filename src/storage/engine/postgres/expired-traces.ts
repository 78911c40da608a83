/**
 * Which traces are past their term: PostgreSQL goes through the pages of the table, because freed room is used again
 * and after a while traces of every age lie next to each other, and it has no index by which they came.
 */

import type { Question } from '../../questions.ts';
import type { Expired, Listing, StepOfTraces } from '../../retention/expired-traces.ts';

export type Place = {
  /** A page of the table and a line on it, as the database writes it. */
  readonly after: string;
  /** The first page that was not there when the walk began; null before it begins. */
  readonly endPage: number | null;
};

export const BEGINNING: Place = { after: '(0,0)', endPage: null };

export async function listExpiredTraces(step: StepOfTraces<Place>): Promise<Listing<Place>> {
  const { ask, from, cuts, rowsMax } = step;
  const { after, endPage } = from;
  const [size] = await ask(COUNT_PAGES, {});
  const end = endPage ?? size?.pages ?? 0;
  const windowEnd = `(${pageOf(after) + rowsMax},0)`;
  const latestCutMs = Math.max(...cuts.map((cut) => cut.goneBeforeMs));
  const old = await ask(LIST_OLD, { after, before: windowEnd, latestCutMs, limit: rowsMax });
  const expired = old.length === 0 ? [] : await holdExpired(step, old);
  // When there are as many as were asked for, more of them may lie behind on these pages.
  const last = old.length < rowsMax ? windowEnd : (old.at(-1)?.place ?? windowEnd);
  return {
    expired: expired.map((trace) => ({ ...trace, place: { after: trace.place, endPage: end } })),
    end: pageOf(last) < end ? { after: last, endPage: end } : null,
  };
}

function pageOf(place: string): number {
  return Number(/^\((\d+),/.exec(place)?.[1]);
}

type Old = {
  readonly place: string;
  readonly projectNumber: number;
  readonly traceId: string;
  readonly insertedAtMs: number;
};

/** Those that are past the term of their project, held together with the settings of the projects. */
async function holdExpired(
  { ask, cuts, rowsMax }: StepOfTraces<Place>,
  old: readonly Old[],
): Promise<readonly Expired<string>[]> {
  const goneBeforeMs = new Map(cuts.map((cut) => [cut.storedDays, cut.goneBeforeMs]));
  // A project that chooses otherwise from here on waits for the step, which goes by what was chosen before.
  const projects = await ask(HOLD_PROJECTS, { numbers: [...new Set(old.map((trace) => trace.projectNumber))] });
  const cutOf = new Map(projects.map(({ number, storedDays }) => [number, goneBeforeMs.get(storedDays)]));
  const expired = old.filter((trace) => trace.insertedAtMs < (cutOf.get(trace.projectNumber) ?? 0));
  return expired.length === 0 ? [] : await ask(HOLD_TRACES, { expired, rowsMax });
}

const COUNT_PAGES: Question<Record<never, never>, { readonly pages: number }> = {
  name: 'retention.countPages',
  text: `SELECT pg_relation_size('traces') / current_setting('block_size')::bigint AS pages`,
  cells: () => [],
  row: (row) => row,
};

type Look = { readonly after: string; readonly before: string; readonly latestCutMs: number; readonly limit: number };

/** What is old enough to be past some term. */
const LIST_OLD: Question<Look, Old> = {
  name: 'retention.listOldTraces',
  // The addition keeps the database from using an index, which would lead it all over the table.
  text: `SELECT ctid::text AS place, project_number AS "projectNumber", trace_id AS "traceId",
      inserted_at AS "insertedAtMs"
    FROM traces WHERE ctid > $1::tid AND ctid < $2::tid AND inserted_at + 0 < $3 LIMIT $4`,
  cells: ({ after, before, latestCutMs, limit }) => [after, before, latestCutMs, limit],
  row: (row) => row,
};

type ProjectTerm = { readonly number: number; readonly storedDays: number | null };

const HOLD_PROJECTS: Question<{ readonly numbers: readonly number[] }, ProjectTerm> = {
  name: 'retention.holdProjects',
  text: 'SELECT number, trace_retention_days AS "storedDays" FROM projects WHERE number = ANY ($1) FOR SHARE',
  cells: ({ numbers }) => [numbers],
  row: (row) => row,
};

const HOLD_TRACES: Question<{ readonly expired: readonly Old[]; readonly rowsMax: number }, Expired<string>> = {
  name: 'retention.holdTraces',
  // By the instant as well: an append may have begun one anew since.
  text: `SELECT expired.place, traces.project_number AS "projectNumber", traces.trace_id AS "traceId", traces.sequence,
      traces.span_count + evaluation.count AS parts
    FROM unnest($1::text[], $2::integer[], $3::text[], $4::bigint[]) WITH ORDINALITY
      AS expired (place, project_number, trace_id, inserted_at, position)
    JOIN traces ON traces.project_number = expired.project_number AND traces.trace_id = expired.trace_id
      AND traces.inserted_at = expired.inserted_at
    CROSS JOIN LATERAL (
      SELECT count(*) FROM (
        SELECT FROM evaluations
        WHERE evaluations.project_number = traces.project_number AND evaluations.trace_sequence = traces.sequence
        LIMIT $5
      ) AS counted
    ) AS evaluation
    ORDER BY expired.position
    FOR UPDATE OF traces SKIP LOCKED`,
  cells: ({ expired, rowsMax }) => [
    expired.map(({ place }) => place),
    expired.map(({ projectNumber }) => projectNumber),
    expired.map(({ traceId }) => traceId),
    expired.map(({ insertedAtMs }) => insertedAtMs),
    rowsMax,
  ],
  row: (row) => row,
};

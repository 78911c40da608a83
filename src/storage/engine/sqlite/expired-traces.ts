/** Which traces are past their term: SQLite goes through them in the order in which they came. */

import type { Question } from '../../questions.ts';
import type { Expired, Listing, StepOfTraces } from '../../retention/expired-traces.ts';
import { idTextSql } from './compact-ids.ts';

// Looking at a trace costs a fraction of removing a row.
const TRACES_AT_ONCE = 1000;

export async function listExpiredTraces({ ask, from, cuts, rowsMax }: StepOfTraces<number>): Promise<Listing<number>> {
  const goneBeforeMs = new Map(cuts.map((cut) => [cut.storedDays, cut.goneBeforeMs]));
  const latestCutMs = Math.max(...goneBeforeMs.values());
  const traces = await ask(LIST, { after: from, latestCutMs, rowsMax });
  const expired = traces.filter(
    ({ isKnown, insertedAtMs, storedDays }) => isKnown && insertedAtMs < (goneBeforeMs.get(storedDays) ?? 0),
  );
  return { expired, end: traces.length < TRACES_AT_ONCE ? null : (traces.at(-1)?.place ?? null) };
}

type Look = { readonly after: number; readonly latestCutMs: number; readonly rowsMax: number };
type Candidate = Expired<number> & {
  readonly insertedAtMs: number;
  /** Traces of a project that is not known are nobody's to remove. */
  readonly isKnown: boolean;
  readonly storedDays: number | null;
};
type Row = [number, number, string, number, number, number | null, number];

const LIST: Question<Look, Candidate> = {
  name: 'retention.listExpiredTraces',
  text: `SELECT traces.sequence, project_number, ${idTextSql('trace_id')}, inserted_at, projects.number IS NOT NULL,
      trace_retention_days,
      CASE WHEN inserted_at < ? THEN span_count + (SELECT count(*) FROM (
        SELECT 1 FROM evaluations
        WHERE evaluations.project_number = traces.project_number AND trace_sequence = sequence LIMIT ?
      )) ELSE 0 END
    FROM traces LEFT JOIN projects ON projects.number = traces.project_number
    WHERE sequence > ? ORDER BY sequence LIMIT ${TRACES_AT_ONCE}`,
  cells: ({ after, latestCutMs, rowsMax }) => [latestCutMs, rowsMax, after],
  row: ([sequence, projectNumber, traceId, insertedAtMs, isKnown, storedDays, parts]: Row) => ({
    place: sequence,
    sequence,
    projectNumber,
    traceId,
    insertedAtMs,
    isKnown: isKnown === 1,
    storedDays,
    parts,
  }),
};

/**
 * Removes traces that are past their term, with all that belongs to them. A trace too large for one step is put out
 * of reach first: under the negative number of its project no question finds it, and what is left of it goes with
 * the steps to come, whatever its project chooses meanwhile.
 */

import type { TraceCut } from '../../domain/store.ts';
import type { Database } from './connection.ts';

export type TraceStep = {
  /** Traces up to this sequence have been looked at. */
  readonly afterSequence: number;
  readonly cuts: readonly TraceCut[];
  readonly rowsMax: number;
  /** Asked now and then: the step ends when there is no time left. */
  readonly isOver: () => boolean;
};

/** `next` is where the following step begins; null when nothing is left. */
export type TraceStepEnd = { readonly removed: number; readonly next: number | null };

/** SQL that puts the trace with a sequence out of reach. */
export const HIDE_TRACE = `UPDATE traces SET project_number = -project_number, trace_id = CAST(sequence AS TEXT)
  WHERE sequence = ?`;

// Looking at a trace costs a fraction of removing a row.
const TRACES_LOOKED_AT = 1000;
// Removed between two looks at the time: a span may hold several texts of 1 MiB.
const ROWS_PER_LOOK = 8;

type Doomed = { readonly sequence: number; readonly projectNumber: number };

type Candidate = Doomed & {
  readonly insertedAtMs: number;
  readonly isKnown: number;
  readonly storedDays: number | null;
};

/** Answers a function to call inside a transaction. */
export function prepareExpiredTraces(db: Database): (step: TraceStep) => TraceStepEnd {
  const statements = prepareStatements(db);

  /** Removes at most so many rows of what belongs to a trace, and answers how many. */
  function removeParts({ projectNumber, sequence }: Doomed, rowsMax: number): number {
    const spans = statements.dropSpans.run(projectNumber, sequence, rowsMax).changes;
    if (spans === rowsMax) return spans;
    return spans + statements.dropEvaluations.run(projectNumber, sequence, rowsMax - spans).changes;
  }

  return ({ afterSequence, cuts, rowsMax, isOver }) => {
    const goneBeforeMs = new Map(cuts.map((cut) => [cut.storedDays, cut.goneBeforeMs]));
    let removed = 0;
    let rows = 0;

    /** False when there was no room or no time for all of it. */
    function erase(trace: Doomed): boolean {
      for (;;) {
        const wanted = Math.min(ROWS_PER_LOOK, rowsMax - rows);
        const parts = wanted === 0 ? 0 : removeParts(trace, wanted);
        rows += parts;
        if (parts < wanted) break;
        if (rows >= rowsMax || isOver()) return false;
      }
      statements.dropTrace.run(trace.sequence);
      rows += 1;
      removed += 1;
      return true;
    }

    // What is out of reach already comes first.
    while (rows === 0 || (rows < rowsMax && !isOver())) {
      const hidden = statements.hidden.get();
      if (hidden === undefined) break;
      erase(hidden);
    }
    let next = afterSequence;
    // However little time there is, every step gets somewhere.
    const mustEnd = () => (rows > 0 || next > afterSequence) && (rows >= rowsMax || isOver());
    if (mustEnd()) return { removed, next };
    if (cuts.length === 0) return { removed, next: null };
    const candidates = statements.after.all(next, TRACES_LOOKED_AT);
    for (const trace of candidates) {
      if (mustEnd()) return { removed, next };
      // Traces of a project that is not known are nobody's to remove.
      const cutMs = trace.isKnown === 1 ? goneBeforeMs.get(trace.storedDays) : undefined;
      if (cutMs !== undefined && trace.insertedAtMs < cutMs && !erase(trace)) statements.hide.run(trace.sequence);
      next = trace.sequence;
    }
    const isLast = candidates.length < TRACES_LOOKED_AT && statements.hidden.get() === undefined;
    return { removed, next: isLast ? null : next };
  };
}

function prepareStatements(db: Database) {
  const drop = (table: string) =>
    db.prepare<[number, number, number]>(
      `DELETE FROM ${table} WHERE rowid IN
         (SELECT rowid FROM ${table} WHERE project_number = ? AND trace_sequence = ? LIMIT ?)`,
    );
  return {
    dropSpans: drop('spans'),
    dropEvaluations: drop('evaluations'),
    dropTrace: db.prepare<[number]>('DELETE FROM traces WHERE sequence = ?'),
    hide: db.prepare<[number]>(HIDE_TRACE),
    hidden: db.prepare<[], Doomed>(
      'SELECT sequence, -project_number AS projectNumber FROM traces WHERE project_number < 0 LIMIT 1',
    ),
    after: db.prepare<[number, number], Candidate>(
      `SELECT traces.sequence, traces.project_number AS projectNumber, traces.inserted_at AS insertedAtMs,
         projects.number IS NOT NULL AS isKnown, projects.trace_retention_days AS storedDays
       FROM traces LEFT JOIN projects ON projects.number = traces.project_number
       WHERE traces.sequence > ? ORDER BY traces.sequence LIMIT ?`,
    ),
  };
}

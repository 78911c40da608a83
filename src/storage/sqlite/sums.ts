/** Totals and aggregates of a trace from all its spans. Takes as long as there are spans, so it is for threads that read. */

import type { StoredTrace } from '../../domain/store.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import { recompute } from '../../domain/trace-recomputation.ts';
import type { KeepSums } from '../reading/complete-sums.ts';
import type { Database } from './connection.ts';
import {
  type Cell,
  LINKED_SUMMARY_SELECT,
  type LinkedSummaryRow,
  SUMS_COLUMNS,
  sumsCells,
  toLinkedSummary,
} from './trace-rows.ts';

export function prepareSums(db: Database): (trace: StoredTrace) => TraceState {
  const statement = db.prepare<[number, number], LinkedSummaryRow>(
    `${LINKED_SUMMARY_SELECT} WHERE project_number = ? AND trace_sequence = ?`,
  );
  function* rows({ projectNumber, sequence }: StoredTrace) {
    for (const row of statement.iterate(projectNumber, sequence)) yield toLinkedSummary(row);
  }
  return (trace) => recompute(rows(trace));
}

export function prepareKeepSums(db: Database): (...args: Parameters<KeepSums>) => void {
  const update = db.prepare<Cell[]>(
    `UPDATE traces SET ${SUMS_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE sequence = ? AND aggregates IS ?`,
  );
  return ({ sequence, aggregatesJson }, sums) => void update.run(...sumsCells(sums), sequence, aggregatesJson);
}

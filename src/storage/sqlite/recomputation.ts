/** Computes anew what is kept of all spans of a trace. Takes as long as there are spans, so never on the main thread. */

import type { TraceState } from '../../domain/trace-growth.ts';
import { recompute } from '../../domain/trace-recomputation.ts';
import type { TracePlace } from '../append/tables.ts';
import type { Database } from './connection.ts';
import {
  type Cell,
  LINKED_SUMMARY_SELECT,
  type LinkedSummaryRow,
  SUMS_COLUMNS,
  sumsCells,
  toLinkedSummary,
} from './trace-rows.ts';

type Spans = Pick<TracePlace, 'projectNumber' | 'sequence'>;

export function prepareSummation(db: Database): (spans: Spans) => TraceState {
  const statement = db.prepare<[number, number], LinkedSummaryRow>(
    `${LINKED_SUMMARY_SELECT} WHERE project_number = ? AND trace_sequence = ?`,
  );
  function* rows({ projectNumber, sequence }: Spans) {
    for (const row of statement.iterate(projectNumber, sequence)) yield toLinkedSummary(row);
  }
  return (spans) => recompute(rows(spans));
}

/** Inside a transaction that somebody else begins and ends. */
export function prepareRecomputation(db: Database): (place: TracePlace) => void {
  const sumUp = prepareSummation(db);
  const update = db.prepare<Cell[]>(
    `UPDATE traces SET ${SUMS_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE sequence = ?`,
  );
  return (place) => {
    const { totals, aggregates } = sumUp(place);
    update.run(...sumsCells({ totals, aggregatesJson: JSON.stringify(aggregates) }), place.sequence);
  };
}

/** Totals and aggregates of a trace from all its spans. Takes as long as there are spans, so it is for threads that read. */

import { listLinkedSummaries } from '../../../gen/storage/sqlite/traces.ts';
import type { StoredTrace } from '../../domain/store.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import { recompute } from '../../domain/trace-recomputation.ts';
import type { KeepSums } from '../reading/complete-sums.ts';
import { prepareQuestion } from './ask.ts';
import type { Database } from './connection.ts';
import { type Cell, SUMS_COLUMNS, sumsCells } from './trace-rows.ts';

export function prepareSums(db: Database): (trace: StoredTrace) => TraceState {
  const linkedSummaries = prepareQuestion(db, listLinkedSummaries);
  return ({ projectNumber, sequence }) => recompute(linkedSummaries.iterate({ projectNumber, sequence }));
}

export function prepareKeepSums(db: Database): (...args: Parameters<KeepSums>) => void {
  const update = db.prepare<Cell[]>(
    `UPDATE traces SET ${SUMS_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE sequence = ? AND aggregates IS ?`,
  );
  return ({ sequence, aggregatesJson }, sums) => void update.run(...sumsCells(sums), sequence, aggregatesJson);
}

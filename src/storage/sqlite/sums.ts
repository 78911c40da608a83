/** Totals and aggregates of a trace from all its spans. Takes as long as there are spans, so it is for threads that read. */

import { keepSums, listLinkedSummaries } from '../../../gen/storage/sqlite/traces.ts';
import type { StoredTrace } from '../../domain/store.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import { beginRecomputation } from '../../domain/trace-recomputation.ts';
import type { KeepSums } from '../reading/complete-sums.ts';
import { sumsToKeep } from '../traces/sums.ts';
import { prepareChange, prepareQuestion } from './ask.ts';
import type { Database } from './connection.ts';

export function prepareSums(db: Database): (trace: StoredTrace) => TraceState {
  const linkedSummaries = prepareQuestion(db, listLinkedSummaries);
  return ({ projectNumber, sequence }) => {
    const recomputation = beginRecomputation();
    for (const span of linkedSummaries.iterate({ projectNumber, sequence })) recomputation.add(span);
    return recomputation.end();
  };
}

export function prepareKeepSums(db: Database): (...args: Parameters<KeepSums>) => void {
  const keep = prepareChange(db, keepSums);
  return (trace, sums) => void keep(sumsToKeep(trace, sums));
}

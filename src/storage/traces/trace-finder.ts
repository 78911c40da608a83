/** Finds traces, and keeps what a read has found out of them. */

import type { TraceStore } from '../../domain/store.ts';
import type { Asking, TransactAll } from '../questions.ts';
import type { KeepSums } from './complete-sums.ts';
import type { TraceQuestions } from './trace-reads.ts';

/** Ids between two bounds, as the store keeps them. */
export type IdRange = { readonly first: string | Buffer; readonly last: string | Buffer };

const LAST_CHARACTER = '\u{10ffff}';

/** `rangesOf`: where the ids are that begin with a prefix. Ids of two forms have an order each. */
export function createTraceFinder(
  { questions, ask }: Asking<TraceQuestions>,
  rangesOf: (prefix: string) => readonly IdRange[],
): Pick<TraceStore, 'find' | 'findByPrefix'> {
  return {
    find: async (projectNumber, traceId) => (await ask(questions.findTrace, { projectNumber, traceId }))[0] ?? null,
    async findByPrefix(projectNumber, prefix, sinceMs, limit) {
      const found = rangesOf(prefix).map((range) =>
        ask(questions.listTraceIds, { projectNumber, ...range, sinceMs, limit }),
      );
      const ids = (await Promise.all(found)).flat().map(({ traceId }) => traceId);
      // By their bytes, as each of the parts is.
      return ids.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))).slice(0, limit);
    },
  };
}

/** All that begin with it, as text. */
export function textRange(prefix: string): IdRange {
  return { first: prefix, last: prefix + LAST_CHARACTER };
}

export function createKeepSums(transact: TransactAll): KeepSums {
  return async ({ projectNumber, traceId, sequence, aggregatesJson: foundJson }, { totals, aggregatesJson }) => {
    const { startedAtMs, finishedAtMs } = totals;
    const durationMs = startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs;
    const place = { projectNumber, traceId, sequence };
    await transact(async ({ change, questions: { traces, searchIndex } }) => {
      await change(traces.keepSums, { ...totals, ...place, durationMs, aggregatesJson, foundJson });
      await change(searchIndex.markStored, { projectNumber, sequences: [sequence] });
    });
  };
}

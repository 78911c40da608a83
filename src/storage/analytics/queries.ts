/** Queries of analytics: traces ordered by their start. */

import { sql } from 'kysely';
import { SPANS_READ_THROUGH_MAX } from '../../domain/traces/trace-aggregates.ts';
import { columns } from '../plain-queries.ts';
import { type Db, type Dialect, query } from '../queries.ts';
import { METADATA_BYTES, type OfTraces, PROJECT, START, spanQueries } from '../traces/columns.ts';

export { listMetadata } from '../search/queries.ts';

type OfRange = {
  readonly projectNumber: number;
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  readonly toMs: number;
  /** After the trace with this start and sequence. */
  readonly afterMs: number;
  readonly afterSequence: number;
  readonly limit: number;
  /** A substring that the metadata must contain; null: any. */
  readonly firstNeedle: string | null;
  readonly secondNeedle: string | null;
};

/** The beginning is enough to see whether the totals of a large trace are outdated. */
const AGGREGATES_START = sql<string | null>`substr(${sql.ref('aggregatesJson')}, 1, 100)`;

export const listTraces = query<OfRange>()((db, params, dialect) => tracesOf(db, params, dialect));

/** Traces that the hourly sums count. */
export const listSmallTraces = query<OfRange>()((db, params, dialect) =>
  tracesOf(db, params, dialect).where('spanCount', '<=', sql.lit(SPANS_READ_THROUGH_MAX)),
);

/** Traces that the hourly sums leave out; the condition is that of their partial index. */
export const listLargeTraces = query<OfRange>()((db, params, dialect) =>
  tracesOf(db, params, dialect).where('spanCount', '>', sql.lit(SPANS_READ_THROUGH_MAX)),
);

function tracesOf(db: Db, params: OfRange, { holds }: Dialect) {
  return (
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', params.projectNumber)
      .where(START, '<=', params.toMs)
      // Redundant, but the planner needs it to use the index.
      .where(START, '>=', params.afterMs)
      .where(sql<boolean>`(${START}, ${sql.ref('sequence')}) > (${params.afterMs}, ${params.afterSequence})`)
      .where('insertedAtMs', '>=', params.receivedFromMs)
      .where('insertedAtMs', '<=', params.receivedToMs)
      .where(holds('metadataJson', params.firstNeedle))
      .where(holds('metadataJson', params.secondNeedle))
      .select([
        START.as('startMs'),
        ...columns('Trace', 'sequence', 'spanCount', 'hasError', 'promptTokens', 'completionTokens'),
        ...columns('Trace', 'totalCostNanoUsd', 'firstTokenMs', 'durationMs'),
        METADATA_BYTES.as('metadataBytes'),
        AGGREGATES_START.as('aggregatesJson'),
      ])
      .orderBy(START)
      .orderBy('sequence')
      .limit(params.limit)
  );
}

export const listDurations = query<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where(PROJECT, '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select([
      'sequence as sequence',
      START.as('startMs'),
      ...columns('Trace', 'insertedAtMs', 'spanCount', 'durationMs', 'firstTokenMs'),
    ]),
);

export const { listSpans, listSpansBehind } = spanQueries(spansOf);

function spansOf(db: Db, { idText }: Dialect) {
  return db
    .selectFrom('Span')
    .select((column) => [
      'traceSequence as traceSequence',
      idText('spanId').as('spanId'),
      ...columns('Span', 'model', 'startedAtMs', 'promptTokens', 'completionTokens', 'costNanoUsd', 'firstTokenMs'),
      ...columns('Span', 'durationMs'),
      column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
    ]);
}

/** Queries of traces, their spans and their evaluations. */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { ListPosition, SpanPosition } from '../../domain/traces/telemetry-port.ts';
import type { TraceTotals } from '../../domain/traces/trace.ts';
import { OUTDATED_START, SPANS_READ_THROUGH_MAX } from '../../domain/traces/trace-aggregates.ts';
import { columns, pick, remove, rowsOf, upsert } from '../plain-queries.ts';
import { change, type Db, type Dialect, query, type Tables } from '../queries.ts';
import { FINISHED_NS, metadataOf, STARTED_NS, spanOf, summaryOf, textsOf, traceOf } from './columns.ts';
import { EVALUATION_TEXTS, namesOf, SPAN_TEXTS } from './text-columns.ts';

export { listSpansWithTexts } from '../search/queries.ts';
export { findRows, listRowEvaluations } from './queries-rows.ts';

type OfTrace = { readonly projectNumber: number; readonly sequence: number };
type OfSome = OfTrace & { readonly ids: readonly string[] };
type OfRange = OfTrace & ListPosition & { readonly limit: number };
type OfSpanRange = OfTrace & SpanPosition & { readonly limit: number };

type Named = { readonly projectNumber: number; readonly traceId: string };

export const findTrace = query<Named>()((db, params, dialect) =>
  namedOf(db, params, dialect).select((column) => traceOf(column, dialect)),
);

function namedOf(db: Db, { projectNumber, traceId }: Named, { storedId }: Dialect) {
  return rowsOf(db, 'Trace', { projectNumber, traceId: storedId(traceId) });
}

const IS_OUTDATED = sql<SqlBool>`substr(${sql.ref('aggregatesJson')}, 1, 12) = ${sql.lit(OUTDATED_START)}`;

/** Large traces whose totals are to be recomputed; the conditions are those of their partial index. */
export const listOutdated = query<{ readonly projectNumber: number; readonly limit: number }>()(
  (db, { projectNumber, limit }, { idText }) =>
    rowsOf(db, 'Trace', { projectNumber })
      .where('spanCount', '>', sql.lit(SPANS_READ_THROUGH_MAX))
      .where(IS_OUTDATED)
      .select([idText('traceId').as('traceId'), ...columns('Trace', 'sequence', 'spanCount', 'aggregatesJson')])
      .limit(limit),
);

type IdRange = { readonly projectNumber: number; readonly first: StoredId; readonly last: StoredId };
/** Text, or bytes where the store packs ids. */
type StoredId = string | Buffer;

/**
 * Ids of traces received since an instant, ascending, both ends included. `first` and `last` are in their stored form.
 */
export const listTraceIds = query<IdRange & { readonly sinceMs: number; readonly limit: number }>()(
  (db, { projectNumber, first, last, sinceMs, limit }, { idText }) =>
    db
      .selectFrom('Trace')
      .where('projectNumber', '=', projectNumber)
      .where('traceId', '>=', first as string)
      .where('traceId', '<=', last as string)
      .where('insertedAtMs', '>=', sinceMs)
      .select(idText('traceId').as('traceId'))
      .orderBy('traceId')
      .limit(limit),
);

// The columns of a trace that are computed from its spans.
const SUMS = [
  ...['spanCount', 'startedAtMs', 'durationMs', 'firstTokenMs', 'promptTokens', 'completionTokens'],
  ...['reasoningTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens', 'totalCostNanoUsd', 'unpricedSpans'],
  ...['tokensEstimated', 'hasError', 'aggregatesJson'],
] as const satisfies readonly (keyof SumsToKeep)[];

type SumsToKeep = TraceTotals &
  Named & {
    readonly sequence: number;
    readonly durationMs: number | null;
    readonly aggregatesJson: string | null;
    /** The aggregates that were stored when the trace was found. */
    readonly foundJson: string | null;
  };

/** Changes nothing if the trace has changed since it was found. */
export const keepSums = change<SumsToKeep>((db, params, { storedId, update }) => {
  const { projectNumber, traceId, sequence, foundJson } = params;
  return update(db, 'Trace', { projectNumber, traceId: storedId(traceId), sequence })
    .where('aggregatesJson', 'is not distinct from', foundJson)
    .set(pick(params, ...SUMS));
});

/** The ids and parents of all spans, in the order of SpanPosition. */
export const listLinks = query<OfTrace>()((db, params, { idText }) =>
  inOrder(
    spansOf(db, params).select([
      idText('spanId').as('spanId'),
      idText('parentId').$castTo<string | null>().as('parentId'),
    ]),
    idText,
  ),
);

/** Summaries of all spans, in any order. */
export const listSummaries = query<OfTrace>()((db, params, dialect) =>
  spansOf(db, params).select((column) => summaryOf(column, dialect)),
);

/** The calls that are counted in the requests of other spans. */
export const listSharers = query<OfTrace>()((db, params, { idText }) =>
  spansOf(db, params).where('sharedRequestId', 'is not', null).select(idText('spanId').as('spanId')),
);

/** Summaries of all spans, in any order, with whether the parent of the span is not stored. */
export const listLinkedSummaries = query<OfTrace>()((db, params, dialect) =>
  spansOf(db, params)
    .select((column) => summaryOf(column, dialect))
    .select(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('parentId', 'is', null),
        not(
          exists(
            selectFrom('Span as parent')
              .select('parent.spanId as spanId')
              .where('parent.projectNumber', '=', params.projectNumber)
              .where('parent.traceSequence', '=', params.sequence)
              .whereRef('parent.spanId', '=', 'Span.parentId'),
          ),
        ),
      ])
        .$castTo<boolean>()
        .as('isParentless'),
    ),
);

export const findSummaries = query<OfSome>()((db, params, dialect) =>
  spansOf(db, params)
    .where(dialect.isOneOf('spanId', params.ids))
    .select((column) => summaryOf(column, dialect)),
);

export const findSpans = query<OfSome>()((db, params, dialect) =>
  spansOf(db, params)
    .where(dialect.isOneOf('spanId', params.ids))
    .select((column) => spanOf(column, dialect)),
);

export const findVersionedSpans = query<OfSome>()((db, params, dialect) =>
  spansOf(db, params)
    .where(dialect.isOneOf('spanId', params.ids))
    .select((column) => spanOf(column, dialect))
    .select(columns('Span', 'version')),
);

/** In the order of SpanPosition. */
export const listSpanOrder = query<OfSpanRange>()((db, params, { idText, textBytes }) => {
  const { atMs, startedNs, durationMs, finishedNs, id } = params;
  const [start, duration] = [sql.ref('startedAtMs'), sql.ref('durationMs')];
  // A descending part stands on the other side.
  const after = sql<SqlBool>`(${start}, ${STARTED_NS}, ${durationMs}, ${finishedNs}, ${idText('spanId')})
    > (${atMs}, ${startedNs}, ${duration}, ${FINISHED_NS}, ${id})`;
  const spans = spansOf(db, params)
    .where(after)
    .select('startedAtMs as atMs')
    .select(columns('Span', 'durationMs'))
    .select([
      STARTED_NS.as('startedNs'),
      FINISHED_NS.as('finishedNs'),
      idText('spanId').as('id'),
      textBytes(['name', ...namesOf(SPAN_TEXTS)]).as('bytes'),
    ]);
  return inOrder(spans, idText).limit(params.limit);
});

/** Finds an evaluation if there are more than `count`. */
export const findEvaluationBeyond = query<OfTrace & { readonly count: number }>()((db, params) =>
  evaluationsOf(db, params).select('evaluationId as evaluationId').limit(1).offset(params.count),
);

/** By insertion, then id. */
export const listEvaluationOrder = query<OfRange>()((db, params, { textBytes }) =>
  evaluationsOf(db, params)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('insertedAtMs', 'evaluationId'), '>', tuple(params.atMs, params.id)),
    )
    .select(['insertedAtMs as atMs', 'evaluationId as id'])
    .select(textBytes(namesOf(EVALUATION_TEXTS)).as('bytes'))
    .orderBy('insertedAtMs')
    .orderBy('evaluationId')
    .limit(params.limit),
);

export const findEvaluations = query<OfSome>()((db, params, dialect) =>
  evaluationsOf(db, params)
    .where(dialect.isOneOf('evaluationId', params.ids))
    .select(dialect.allOf('Evaluation', 'projectNumber', 'traceSequence', ...namesOf(EVALUATION_TEXTS)))
    .select(textsOf(dialect, ...namesOf(EVALUATION_TEXTS))),
);

function inOrder<Row>(
  spans: SelectQueryBuilder<Tables, 'Span', Row>,
  idText: Dialect['idText'],
  direction: 'asc' | 'desc' = 'asc',
): SelectQueryBuilder<Tables, 'Span', Row> {
  const reverse = direction === 'asc' ? 'desc' : 'asc';
  return spans
    .orderBy('startedAtMs', direction)
    .orderBy(STARTED_NS, direction)
    .orderBy('durationMs', reverse)
    .orderBy(FINISHED_NS, reverse)
    .orderBy(idText('spanId'), direction);
}

function spansOf(db: Db, { projectNumber, sequence }: OfTrace) {
  return rowsOf(db, 'Span', { projectNumber, traceSequence: sequence });
}

function evaluationsOf(db: Db, { projectNumber, sequence }: OfTrace) {
  return rowsOf(db, 'Evaluation', { projectNumber, traceSequence: sequence });
}

/** Locks a trace for a change. */
export const lockTrace = query<Named>()((db, params, dialect) =>
  dialect.lock(
    namedOf(db, params, dialect).select(columns('Trace', 'sequence', 'spanCount', 'insertedAtMs', 'updatedAtMs')),
  ),
);

/** After a lock only a further query sees texts as others left them. */
export const findMetadata = query<Named>()((db, params, dialect) =>
  namedOf(db, params, dialect).select((column) => metadataOf(column).as('metadataJson')),
);

type Kept = Named & {
  readonly metadataJson: string;
  readonly metadataBytes: number | null;
  readonly updatedAtMs: number;
};

/** A large text is stored with `storeText`. */
export const keepMetadata = change<Kept>((db, params, { storedId, update }) => {
  const { projectNumber, traceId } = params;
  return update(db, 'Trace', { projectNumber, traceId: storedId(traceId) }).set(
    pick(params, 'metadataJson', 'metadataBytes', 'updatedAtMs'),
  );
});

export const storeText = upsert('TraceText');
export const removeText = remove('TraceText', ['projectNumber', 'traceSequence', 'name']);

type OfType = OfTrace & { readonly type: number; readonly limit: number };

export const listFirstOfType = listOfType();
export const listLastOfType = listOfType('desc');

function listOfType(direction?: 'desc') {
  return query<OfType>()((db, params, { idText }) =>
    inOrder(
      spansOf(db, params)
        .where(sql<SqlBool>`${sql.ref('type')} = ${params.type}`)
        .select(idText('spanId').as('spanId')),
      idText,
      direction,
    ).limit(params.limit),
  );
}

/** Any span without a parent. */
export const findRootSpan = query<OfTrace>()((db, params) =>
  spansOf(db, params).where('parentId', 'is', null).select('traceSequence as sequence').limit(1),
);

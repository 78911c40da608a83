/** Queries of spans to reprice or to measure. */

import { sql } from 'kysely';
import { columns, rowsOf } from '../plain-queries.ts';
import { type Dialect, query } from '../queries.ts';
import { textsOf } from '../traces/columns.ts';

export const listRepricedProjects = query<Record<never, never>>()((db) =>
  db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.archivedAtMs', 'is', null)
    .select(columns('Project', 'id', 'number', 'organizationId'))
    .select(columns('Organization', 'priceVersion'))
    .orderBy('Project.number'),
);

/** The columns of a PricedSpan but its id. */
function pricedOf(dialect: Dialect) {
  return [
    ...columns('Span', 'type', 'model', 'vendor', 'startedAtMs', 'promptTokens', 'completionTokens'),
    ...columns('Span', 'reasoningTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
    ...columns('Span', 'cachedTokensInPrompt', 'costNanoUsd', 'costSource', 'callRow'),
    ...textsOf(dialect, 'otherMetricsJson'),
  ] as const;
}

/** Spans with more metrics beside those with columns keep their price: a page, and a change of its spans, reads all of them. */
const METRICS_MAX_BYTES = 16_384;

type PageOfTrace = { projectNumber: number; sequence: number; afterId: string; limit: number };

/** Spans of one trace after an id. */
export const listPricedSpans = query<PageOfTrace>()((db, { projectNumber, sequence, afterId, limit }, dialect) => {
  const spanId = dialect.idText('spanId');
  return rowsOf(db, 'Span', { projectNumber, traceSequence: sequence })
    .where(spanId, '>', afterId)
    .where(sql<boolean>`coalesce(${dialect.bytesOf('otherMetricsJson')}, 0) <= ${sql.lit(METRICS_MAX_BYTES)}`)
    .select(spanId.as('spanId'))
    .select(pricedOf(dialect))
    .select(({ eb }) =>
      eb.case().when(dialect.textOf('paramsJson'), 'like', '%"service_tier"%').then(1).else(0).end().as('mayNameTier'),
    )
    .orderBy(spanId)
    .limit(limit);
});

type PageOfTraces = { readonly afterSequence: number; readonly limit: number };

/** By sequence. The cross joins keep the traces outermost, in the order of their index. */
export const listTracesToMeasure = query<PageOfTraces>()((db, { afterSequence, limit }, { idText }) =>
  db
    .selectFrom('Trace')
    .crossJoin('Project')
    .crossJoin('Organization')
    .whereRef('Project.number', '=', 'Trace.projectNumber')
    .whereRef('Organization.id', '=', 'Project.organizationId')
    .where('Trace.sequence', '>', afterSequence)
    .select(idText('Trace.traceId').as('traceId'))
    .select(columns('Trace', 'projectNumber', 'sequence', 'spanCount'))
    .select(columns('Project', 'organizationId'))
    .select(columns('Organization', 'priceVersion'))
    .orderBy('Trace.sequence')
    .limit(limit),
);

type SpansOfSome = { readonly projectNumber: number; readonly sequences: readonly number[]; readonly limit: number };

export const listUnmeasuredSpans = query<SpansOfSome>()((db, { projectNumber, sequences, limit }, dialect) =>
  rowsOf(db, 'Span', { projectNumber })
    .where(dialect.isAmong('traceSequence', sequences))
    .where('callRow', 'is', null)
    .select(dialect.idText('spanId').as('spanId'))
    .select(pricedOf(dialect))
    .select(columns('Span', 'traceSequence', 'name'))
    .select(textsOf(dialect, 'paramsJson', 'telemetryJson'))
    .limit(limit),
);

/** Queries of spans to reprice or to measure. */

import { sql } from 'kysely';
import { columns, rowsOf } from '../plain-queries.ts';
import { query } from '../queries.ts';

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
const PRICED = [
  ...columns('Span', 'type', 'model', 'vendor', 'startedAtMs', 'promptTokens', 'completionTokens'),
  ...columns('Span', 'reasoningTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
  ...columns('Span', 'cachedTokensInPrompt', 'otherMetricsJson', 'costNanoUsd', 'costSource', 'callRow'),
] as const;

/** Spans with more metrics beside those with columns keep their price: a page, and a change of its spans, reads all of them. */
const METRICS_MAX_BYTES = 16_384;

type PageOfTrace = { projectNumber: number; sequence: number; afterId: string; limit: number };

/** Spans of one trace after an id. */
export const listPricedSpans = query<PageOfTrace>()((db, { projectNumber, sequence, afterId, limit }, { idText }) =>
  rowsOf(db, 'Span', { projectNumber, traceSequence: sequence })
    .where(idText('spanId'), '>', afterId)
    .where(sql<boolean>`octet_length(coalesce(${sql.ref('otherMetricsJson')}, '')) <= ${sql.lit(METRICS_MAX_BYTES)}`)
    .select(idText('spanId').as('spanId'))
    .select(PRICED)
    .select(({ eb }) =>
      eb.case().when('paramsJson', 'like', '%"service_tier"%').then(1).else(0).end().as('mayNameTier'),
    )
    .orderBy(idText('spanId'))
    .limit(limit),
);

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

export const listUnmeasuredSpans = query<SpansOfSome>()(
  (db, { projectNumber, sequences, limit }, { idText, isAmong }) =>
    rowsOf(db, 'Span', { projectNumber })
      .where(isAmong('traceSequence', sequences))
      .where('callRow', 'is', null)
      .select(idText('spanId').as('spanId'))
      .select(PRICED)
      .select(columns('Span', 'traceSequence', 'name', 'paramsJson', 'telemetryJson'))
      .limit(limit),
);

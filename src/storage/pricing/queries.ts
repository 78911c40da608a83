/** Queries of price overrides, and of spans to reprice. */

import { sql } from 'kysely';
import { columns, insert, remove, rowsOf } from '../plain-queries.ts';
import { change, query } from '../queries.ts';

export const listOverrides = query<{ readonly organizationId: string }>()((db, { organizationId }, { find }) =>
  find(db, 'PriceOverride', { organizationId }).orderBy('createdAtMs', 'desc').orderBy('id', 'desc'),
);

export const insertOverride = insert('PriceOverride');

export const removeOverride = remove('PriceOverride', ['organizationId', 'id']);

/** Caches of an organization's overrides are valid for one version. */
export const bumpPriceVersion = change<{ readonly id: string }>((db, { id }, { update }) =>
  update(db, 'Organization', { id }).set(({ eb }) => ({ priceVersion: eb('priceVersion', '+', sql.lit(1)) })),
);

export const listRepricedProjects = query<Record<never, never>>()((db) =>
  db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.archivedAtMs', 'is', null)
    .select(columns('Project', 'id', 'number', 'organizationId'))
    .select(columns('Organization', 'priceVersion'))
    .orderBy('Project.number'),
);

type PageOfTrace = { projectNumber: number; sequence: number; afterId: string; limit: number };

/** Spans of one trace after an id. */
export const listPricedSpans = query<PageOfTrace>()((db, { projectNumber, sequence, afterId, limit }, { idText }) =>
  rowsOf(db, 'Span', { projectNumber, traceSequence: sequence })
    .where(idText('spanId'), '>', afterId)
    .select(idText('spanId').as('spanId'))
    .select([
      ...columns('Span', 'type', 'model', 'vendor', 'startedAtMs', 'promptTokens', 'completionTokens'),
      ...columns('Span', 'reasoningTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
      ...columns('Span', 'cachedTokensInPrompt', 'otherMetricsJson', 'costNanoUsd', 'costSource'),
    ])
    .select(({ eb }) =>
      eb.case().when('paramsJson', 'like', '%"service_tier"%').then(1).else(0).end().as('mayNameTier'),
    )
    .orderBy(idText('spanId'))
    .limit(limit),
);

/** What is asked and stored of price overrides, and asked of what is priced anew. */

import { sql } from 'kysely';
import { columns, insert, remove } from '../plain-questions.ts';
import { change, question } from '../questions.ts';

export const listOverrides = question<{ readonly organizationId: string }>()((db, { organizationId }, { find }) =>
  find(db, 'PriceOverride', { organizationId }).orderBy('createdAtMs', 'desc').orderBy('id', 'desc'),
);

export const insertOverride = insert('PriceOverride');

export const removeOverride = remove('PriceOverride', ['organizationId', 'id']);

/** What is remembered of the overrides of an organization holds for one version of them. */
export const movePricesOn = change<{ readonly id: string }>((db, { id }, { update }) =>
  update(db, 'Organization', { id }).set(({ eb }) => ({ priceVersion: eb('priceVersion', '+', sql.lit(1)) })),
);

export const listRepricedProjects = question<Record<never, never>>()((db) =>
  db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.archivedAtMs', 'is', null)
    .select(columns('Project', 'id', 'number', 'organizationId'))
    .select(columns('Organization', 'priceVersion'))
    .orderBy('Project.number'),
);

type PageOfTrace = { projectNumber: number; sequence: number; afterId: string; limit: number };

/** Those of one trace behind an id. */
export const listPricedSpans = question<PageOfTrace>()((db, { projectNumber, sequence, afterId, limit }, { idText }) =>
  db
    .selectFrom('Span')
    .where('projectNumber', '=', projectNumber)
    .where('traceSequence', '=', sequence)
    .where(idText('spanId'), '>', afterId)
    .select(idText('spanId').as('spanId'))
    .select([
      'type as type',
      'model as model',
      'vendor as vendor',
      'startedAtMs as startedAtMs',
      'promptTokens as promptTokens',
      'completionTokens as completionTokens',
      'reasoningTokens as reasoningTokens',
      'cacheReadInputTokens as cacheReadInputTokens',
      'cacheCreationInputTokens as cacheCreationInputTokens',
      'cachedTokensInPrompt as cachedTokensInPrompt',
      'costNanoUsd as costNanoUsd',
      'costSource as costSource',
    ])
    .orderBy(idText('spanId'))
    .limit(limit),
);

/** Queries of evaluators. Deleted evaluators stay in the table, hidden. */

import { replaceKnown, slugQueries } from '../plain-queries.ts';
import { query } from '../queries.ts';

export const { countLive, findById, findBySlug, lockLive, insertUnlessTaken, hide } = slugQueries('Evaluator');

type Page = { readonly projectId: string; readonly afterId: string; readonly limit: number };

/** In the order of ids. */
export const listEvaluators = query<Page>()((db, { projectId, afterId, limit }, { find }) =>
  find(db, 'Evaluator', { projectId, deletedAtMs: null }, 'deletedAtMs')
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit),
);

export const replaceEvaluator = replaceKnown('Evaluator', [
  'name',
  'configJson',
  'fields',
  'outputFields',
  'updatedAtMs',
]);

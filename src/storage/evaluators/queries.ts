/** Queries of evaluators. Deleted evaluators stay in the table, hidden. */

import { pick, slugQueries } from '../plain-queries.ts';
import { change, query, type Row } from '../queries.ts';

export const { countLiving, findById, findBySlug, holdLiving, insertUnlessTaken, hide } = slugQueries('Evaluator');

type Page = { readonly projectId: string; readonly afterId: string; readonly limit: number };

/** In the order of ids. */
export const listEvaluators = query<Page>()((db, { projectId, afterId, limit }, { find }) =>
  find(db, 'Evaluator', { projectId, deletedAtMs: null }, 'deletedAtMs')
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit),
);

const REPLACED = ['name', 'configJson', 'fieldsJson', 'outputFieldsJson', 'updatedAtMs'] as const;
type Replacement = Pick<Row<'Evaluator'>, 'projectId' | 'id' | (typeof REPLACED)[number]> & {
  readonly knownAtMs: number;
};

/** Changes no row when the evaluator has been updated since. */
export const replaceEvaluator = change<Replacement>((db, params, { update }) =>
  update(db, 'Evaluator', {
    projectId: params.projectId,
    id: params.id,
    updatedAtMs: params.knownAtMs,
    deletedAtMs: null,
  }).set(pick(params, ...REPLACED)),
);

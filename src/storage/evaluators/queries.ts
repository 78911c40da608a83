/** Queries of evaluators. Deleted evaluators stay in the table, hidden. */

import { insertNew } from '../plain-queries.ts';
import { change, type Db, type Dialect, query, type Row } from '../queries.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };

/** Locks the project, so that only one transaction counts its evaluators. */
export const holdProject = query<InProject>()((db, { projectId }, { hold }) =>
  hold(db.selectFrom('Project').where('id', '=', projectId).select('number as number')),
);

export const countEvaluators = query<InProject>()((db, { projectId }) =>
  db
    .selectFrom('Evaluator')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findEvaluator = query<OneOf>()((db, { projectId, id }, dialect) =>
  livingOf(db, projectId, dialect).where('id', '=', id),
);

export const findEvaluatorBySlug = query<InProject & { readonly slug: string }>()((db, { projectId, slug }, dialect) =>
  livingOf(db, projectId, dialect).where('slug', '=', slug),
);

/** In the order of ids. */
export const listEvaluators = query<InProject & { readonly afterId: string; readonly limit: number }>()(
  (db, { projectId, afterId, limit }, dialect) =>
    livingOf(db, projectId, dialect).where('id', '>', afterId).orderBy('id').limit(limit),
);

function livingOf(db: Db, projectId: string, { find }: Dialect) {
  return find(db, 'Evaluator', { projectId }, 'deletedAtMs').where('deletedAtMs', 'is', null);
}

/**
 * Inserts nothing when the slug or the id is taken: without a project row there is no lock, and another transaction may
 * be first.
 */
export const insertEvaluator = insertNew('Evaluator');

type Replacement = OneOf &
  Pick<Row<'Evaluator'>, 'name' | 'configJson' | 'fieldsJson' | 'outputFieldsJson' | 'updatedAtMs'> & {
    readonly knownAtMs: number;
  };

/** Changes no row when the evaluator has been updated since. */
export const replaceEvaluator = change<Replacement>((db, params, { update }) =>
  update(db, 'Evaluator', { projectId: params.projectId, id: params.id, updatedAtMs: params.knownAtMs })
    .where('deletedAtMs', 'is', null)
    .set({
      name: params.name,
      configJson: params.configJson,
      fieldsJson: params.fieldsJson,
      outputFieldsJson: params.outputFieldsJson,
      updatedAtMs: params.updatedAtMs,
    }),
);

export const removeEvaluator = change<OneOf & { readonly deletedAtMs: number }>(
  (db, { projectId, id, deletedAtMs }, { update }) =>
    update(db, 'Evaluator', { projectId, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

/** What is asked and stored of evaluators. What is deleted is kept, and found by nobody. */

import { insertNew } from '../plain-questions.ts';
import { change, type Db, question, type Row, type Words } from '../questions.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };

/** Until the transaction ends nobody else counts the evaluators of the project. */
export const holdProject = question<InProject>()((db, { projectId }, { hold }) =>
  hold(db.selectFrom('Project').where('id', '=', projectId).select('number as number')),
);

export const countEvaluators = question<InProject>()((db, { projectId }) =>
  db
    .selectFrom('Evaluator')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findEvaluator = question<OneOf>()((db, { projectId, id }, words) =>
  livingOf(db, projectId, words).where('id', '=', id),
);

export const findEvaluatorBySlug = question<InProject & { readonly slug: string }>()((db, { projectId, slug }, words) =>
  livingOf(db, projectId, words).where('slug', '=', slug),
);

/** In the order of ids. */
export const listEvaluators = question<InProject & { readonly afterId: string; readonly limit: number }>()(
  (db, { projectId, afterId, limit }, words) =>
    livingOf(db, projectId, words).where('id', '>', afterId).orderBy('id').limit(limit),
);

function livingOf(db: Db, projectId: string, { find }: Words) {
  return find(db, 'Evaluator', { projectId }, 'deletedAtMs').where('deletedAtMs', 'is', null);
}

/** Nothing, when the slug or the id is taken: a project without a row is not held, and somebody else may be first. */
export const insertEvaluator = insertNew('Evaluator');

type Replacement = OneOf &
  Pick<Row<'Evaluator'>, 'name' | 'configJson' | 'fieldsJson' | 'outputFieldsJson' | 'updatedAtMs'> & {
    readonly knownAtMs: number;
  };

/** Nothing, when the evaluator was updated at another instant than the known one. */
export const replaceEvaluator = change<Replacement>((db, given, { update }) =>
  update(db, 'Evaluator', { projectId: given.projectId, id: given.id, updatedAtMs: given.knownAtMs })
    .where('deletedAtMs', 'is', null)
    .set({
      name: given.name,
      configJson: given.configJson,
      fieldsJson: given.fieldsJson,
      outputFieldsJson: given.outputFieldsJson,
      updatedAtMs: given.updatedAtMs,
    }),
);

export const removeEvaluator = change<OneOf & { readonly deletedAtMs: number }>(
  (db, { projectId, id, deletedAtMs }, { update }) =>
    update(db, 'Evaluator', { projectId, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

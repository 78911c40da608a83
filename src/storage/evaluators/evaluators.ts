/** Saved evaluators. */

import type { EvaluatorStore } from '../../domain/store.ts';
import { countChange } from '../monitors/monitors.ts';
import type { QueryRunner, Transact } from '../queries.ts';
import { findByIdOrSlug, hasRoom, insertUnlessTaken, type Verbs } from '../slugs.ts';

export function createEvaluatorStore(
  { queries: { evaluators }, runQuery }: QueryRunner,
  { insertEvaluator, replaceEvaluator, removeEvaluator }: EvaluatorWriter,
): EvaluatorStore {
  return {
    find: (projectId, idOrSlug) => findByIdOrSlug({ queries: evaluators, runQuery }, projectId, idOrSlug),
    list: (projectId, { afterId, limit }) =>
      runQuery(evaluators.listEvaluators, { projectId, afterId: afterId ?? '', limit }),
    insert: insertEvaluator,
    replace: replaceEvaluator,
    remove: removeEvaluator,
  };
}

type EvaluatorWriter = Verbs<EvaluatorStore, 'insert' | 'replace' | 'remove', 'Evaluator'>;

export function createEvaluatorWriter(transact: Transact): EvaluatorWriter {
  return {
    insertEvaluator: (evaluator, liveMax) =>
      transact(async (tx) => {
        const { evaluators } = tx.queries;
        if (!(await hasRoom(tx, evaluators, { projectId: evaluator.projectId, liveMax }))) return 'limit_reached';
        const row = { ...evaluator, deletedAtMs: null };
        return await insertUnlessTaken(tx, { queries: evaluators, kind: 'an evaluator' }, row);
      }),
    replaceEvaluator: (evaluator, knownAtMs) =>
      transact(async ({ change, queries: { evaluators } }) => {
        const changed = await change(evaluators.replaceEvaluator, { ...evaluator, knownAtMs });
        return changed > 0 ? 'stored' : 'stale';
      }),
    removeEvaluator: (projectId, id, nowMs) =>
      transact(async (tx) => {
        const { change, queries } = tx;
        const { evaluators, monitors } = queries;
        if ((await change(evaluators.hide, { projectId, id, deletedAtMs: nowMs })) === 0) return false;
        const disabled = await change(monitors.disableMonitors, { projectId, evaluatorId: id, updatedAtMs: nowMs });
        if (disabled > 0) await countChange(tx, projectId, nowMs);
        return true;
      }),
  };
}

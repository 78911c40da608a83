/** Saved evaluators. */

import { LockMode, raw } from '@mikro-orm/core';
import type { EvaluatorSize, EvaluatorStore } from '../../domain/evaluators/evaluator.ts';
import { EvaluatorRow } from '../entities/evaluators.ts';
import { MonitorRow } from '../entities/monitors.ts';
import { countChange } from './monitors.ts';
import { findLive, hasRoom, insertUnlessTaken } from './slugs.ts';
import { rowReads, type Units } from './units.ts';

/** Neither database reads the text itself for this. */
const TEXT_BYTES = ['config', 'fields', 'output_fields', 'workflow_name', 'workflow_icon', 'name']
  .map((column) => `coalesce(octet_length(${column}), 0)`)
  .join(' + ');

export function createEvaluatorStore({ read, transact }: Units): EvaluatorStore {
  const { all } = rowReads(read);
  return {
    find: (projectId, idOrSlug) => read((em) => findLive(em, EvaluatorRow, { projectId, idOrSlug })),
    measure: (projectId) =>
      read((em) =>
        em
          .createQueryBuilder(EvaluatorRow)
          .select(['id', 'updatedAtMs', raw(TEXT_BYTES).as('bytes')])
          .where({ projectId, deletedAtMs: null })
          .execute<EvaluatorSize[]>('all'),
      ),
    findAll: (projectId, ids) =>
      all(EvaluatorRow, { projectId, deletedAtMs: null, id: { $in: [...ids] } }, { without: ['deletedAtMs'] }),
    insert: (evaluator, liveMax) =>
      transact(async ({ em }) => {
        if (!(await hasRoom(em, EvaluatorRow, { projectId: evaluator.projectId, liveMax }))) return 'limit_reached';
        return await insertUnlessTaken(em, EvaluatorRow, { ...evaluator, deletedAtMs: null });
      }),
    replace: ({ projectId, id, name, configJson, fields, outputFields, updatedAtMs }, knownAtMs) =>
      transact(async ({ em }) => {
        const known = { projectId, id, updatedAtMs: knownAtMs, deletedAtMs: null };
        const changed = { name, configJson, fields, outputFields, updatedAtMs };
        return (await em.nativeUpdate(EvaluatorRow, known, changed)) > 0 ? 'stored' : 'stale';
      }),
    remove: (projectId, id, nowMs) =>
      transact(async ({ em }) => {
        const live = { projectId, id, deletedAtMs: null };
        if ((await em.nativeUpdate(EvaluatorRow, live, { deletedAtMs: nowMs })) === 0) return false;
        const running = { projectId, evaluatorId: id, deletedAtMs: null, enabled: true };
        const monitors = await em.find(MonitorRow, running, { lockMode: LockMode.PESSIMISTIC_WRITE });
        for (const monitor of monitors) {
          monitor.enabled = false;
          // Strictly increasing.
          monitor.updatedAtMs = Math.max(nowMs, monitor.updatedAtMs + 1);
        }
        if (monitors.length > 0) await countChange(em, projectId, nowMs);
        return true;
      }),
  };
}

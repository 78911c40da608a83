/** Runs of evaluators over traces. */

import { LockMode, raw } from '@mikro-orm/core';
import type { Lease } from '../../domain/clock.ts';
import type { EvaluatorRunStore } from '../../domain/evaluations/evaluator-run.ts';
import { EvaluatorRunRow } from '../entities/evaluations.ts';
import type { EntityManager } from '../mapper.ts';
import { lockProject } from './slugs.ts';
import { plain, rowReads, type Units, unleased } from './units.ts';

const LEASE = ['leasedUntilMs', 'fence', 'failures'] as const;

export function createRunStore({ read, transact }: Units): EvaluatorRunStore {
  const { one, all } = rowReads(read);
  return {
    find: (projectId, id) => one(EvaluatorRunRow, { projectId, id }, ...LEASE),
    list: (projectId, limit) =>
      all(EvaluatorRunRow, { projectId }, { orderBy: { createdAtMs: 'desc', id: 'desc' }, limit, without: LEASE }),
    insert: (run, { runningMax, startedMax, startedSinceMs, endedBeforeMs }) =>
      transact(async ({ em }) => {
        const { projectId } = run;
        await lockProject(em, projectId);
        if ((await em.count(EvaluatorRunRow, { projectId, status: 'running' })) >= runningMax) return 'limit_reached';
        const started = await em.count(EvaluatorRunRow, { projectId, createdAtMs: { $gte: startedSinceMs } });
        if (started >= startedMax) return 'too_many_started';
        const ended = { projectId, createdAtMs: { $lt: endedBeforeMs }, status: { $ne: 'running' as const } };
        await em.nativeDelete(EvaluatorRunRow, ended);
        em.create(EvaluatorRunRow, { ...run, leasedUntilMs: 0, fence: 0, failures: 0 });
        return 'stored';
      }),
    cancel: ({ projectId, id }, nowMs) =>
      transact(async ({ em }) => {
        const running = { projectId, id, status: 'running' as const };
        await em.nativeUpdate(EvaluatorRunRow, running, { status: 'cancelled', updatedAtMs: nowMs });
      }),
    lease: ({ fence, ...lease }) =>
      transact(async ({ em }) => {
        const run = await lockIdle(em, lease);
        if (run === null) return null;
        run.fence = fence;
        run.leasedUntilMs = lease.untilMs;
        return plain(run, 'leasedUntilMs');
      }),
    // Changes no row when the run has ended or another worker has leased it.
    advance: ({ projectId, id, fence, evaluatorId: _, searchJson: __, createdAtMs: ___, ...progress }) =>
      transact(async ({ em }) => {
        const leased = { projectId, id, fence, status: 'running' as const };
        return (await em.nativeUpdate(EvaluatorRunRow, leased, progress)) > 0;
      }),
  };
}

/**
 * Skips runs that other transactions have locked. Projects take turns: the project that was served longest ago comes
 * first, and of its runs the one that was left longest ago.
 */
async function lockIdle(em: EntityManager, lease: Lease) {
  const served = '(select max(other.leased_until) from evaluator_runs other where other.project_id = run.project_id)';
  return await em
    .createQueryBuilder(EvaluatorRunRow, 'run')
    // A literal, so that the partial index matches.
    .where("run.status = 'running'")
    .andWhere(unleased(lease))
    .orderBy([{ [raw(served)]: 'asc' }, { leasedUntilMs: 'asc' }])
    .limit(1)
    .setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE)
    .getSingleResult();
}

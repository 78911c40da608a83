/** Runs of evaluators over traces. */

import { leaseMaxMs } from '../../domain/clock.ts';
import type { EvaluatorRun, EvaluatorRunStore } from '../../domain/evaluations/evaluator-run.ts';
import type { Queries, QueryRunner, RowOf, Transact } from '../queries.ts';
import type { Verbs } from '../slugs.ts';

export function createRunStore(
  { queries: { evaluations }, runQuery }: QueryRunner,
  { insertRun, cancelRun, leaseRun, advanceRun }: RunWriter,
): EvaluatorRunStore {
  return {
    async find(projectId, id) {
      const [row] = await runQuery(evaluations.findRun, { projectId, id });
      return row === undefined ? null : toRun(row);
    },
    list: async (projectId, limit) => (await runQuery(evaluations.listRuns, { projectId, limit })).map(toRun),
    insert: insertRun,
    cancel: cancelRun,
    lease: leaseRun,
    advance: advanceRun,
  };
}

type RunWriter = Verbs<EvaluatorRunStore, 'insert' | 'cancel' | 'lease' | 'advance', 'Run'>;

export function createRunWriter(transact: Transact): RunWriter {
  return {
    insertRun: (run, { runningMax, startedMax, startedSinceMs, endedBeforeMs }) =>
      transact(async ({ runQuery, change, queries: { organization, evaluations } }) => {
        const { projectId } = run;
        await runQuery(organization.lockProject, { projectId });
        const [running] = await runQuery(evaluations.countRunning, { projectId });
        if (running === undefined || running.count >= runningMax) return 'limit_reached';
        const [started] = await runQuery(evaluations.countRunsSince, { projectId, sinceMs: startedSinceMs });
        if (started === undefined || Number(started.count) >= startedMax) return 'too_many_started';
        await change(evaluations.removeEndedRuns, { projectId, beforeMs: endedBeforeMs });
        await change(evaluations.insertRun, { ...run, leasedUntilMs: 0, fence: 0, failures: 0 });
        return 'stored';
      }),
    cancelRun: ({ projectId, id }, nowMs) =>
      transact(async ({ change, queries: { evaluations } }) => {
        await change(evaluations.cancelRun, { projectId, id, updatedAtMs: nowMs });
      }),
    leaseRun: ({ fence, ...lease }) =>
      transact(async ({ runQuery, change, queries: { evaluations } }) => {
        const [idle] = await runQuery(evaluations.lockIdleRun, {
          nowMs: lease.nowMs,
          leaseMaxMs: leaseMaxMs(lease),
        });
        if (idle === undefined) return null;
        await change(evaluations.leaseRun, { ...idle, leasedUntilMs: lease.untilMs, fence });
        const [row] = await runQuery(evaluations.findRun, idle);
        return row ?? null;
      }),
    advanceRun: (progress) =>
      transact(async ({ change, queries: { evaluations } }) => (await change(evaluations.advanceRun, progress)) > 0),
  };
}

type Row = RowOf<Queries['evaluations']['findRun']>;

function toRun({ fence: _, failures: __, ...run }: Row): EvaluatorRun {
  return run;
}

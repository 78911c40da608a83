/** What is asked and stored of runs over traces. */

import { sql } from 'kysely';
import { find, insert } from '../plain-questions.ts';
import { change, question } from '../questions.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };

export const insertRun = insert('EvaluatorRun');

export const findRun = find('EvaluatorRun', ['projectId', 'id'], 'leasedUntilMs');

export const countRunning = question<InProject>()((db, { projectId }) =>
  db
    .selectFrom('EvaluatorRun')
    .where('projectId', '=', projectId)
    .where('status', '=', 'running')
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const forgetRuns = change<InProject & { readonly beforeMs: number }>((db, { projectId, beforeMs }) =>
  db
    .deleteFrom('EvaluatorRun')
    .where('projectId', '=', projectId)
    .where('createdAtMs', '<', beforeMs)
    .where('status', '<>', 'running'),
);

export const listRuns = question<InProject & { readonly limit: number }>()((db, { projectId, limit }, words) =>
  words
    .find(db, 'EvaluatorRun', { projectId }, 'leasedUntilMs')
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
);

export const cancelRun = change<OneOf & { readonly updatedAtMs: number }>((db, { projectId, id, updatedAtMs }, words) =>
  words
    .update(db, 'EvaluatorRun', { projectId, id })
    .where('status', '=', 'running')
    .set({ status: 'cancelled', updatedAtMs }),
);

/**
 * One that others are at is left to them. Projects take turns: first comes the one for which nobody has worked for
 * longest, of its runs the one that was left longest.
 */
export const holdIdleRun = question<{ readonly nowMs: number }>()((db, { nowMs }, { holdFree }) =>
  holdFree(
    db
      .selectFrom('EvaluatorRun')
      // As the index says it.
      .where('status', '=', sql.lit('running' as const))
      .where('leasedUntilMs', '<=', nowMs)
      .select(['projectId as projectId', 'id as id'])
      .orderBy(({ selectFrom }) =>
        selectFrom('EvaluatorRun as other')
          .whereRef('other.projectId', '=', 'EvaluatorRun.projectId')
          .select(({ fn }) => fn.max('other.leasedUntilMs').as('servedAtMs')),
      )
      .orderBy('leasedUntilMs')
      .limit(1),
  ),
);

type Lease = OneOf & { readonly leasedUntilMs: number; readonly fence: number };

export const leaseRun = change<Lease>((db, { projectId, id, leasedUntilMs, fence }, { update }) =>
  update(db, 'EvaluatorRun', { projectId, id }).set({ leasedUntilMs, fence }),
);

type Progress = Lease & {
  readonly status: 'running' | 'completed' | 'cancelled' | 'failed';
  readonly cursor: string;
  readonly tracesFound: number | null;
  readonly isFoundExactly: boolean;
  readonly processed: number;
  readonly skipped: number;
  readonly failed: number;
  readonly error: string | null;
  readonly updatedAtMs: number;
  readonly failures: number;
};

/** Nothing, when it has ended or somebody else has it. */
export const advanceRun = change<Progress>((db, given, { update }) =>
  update(db, 'EvaluatorRun', { projectId: given.projectId, id: given.id, fence: given.fence })
    .where('status', '=', 'running')
    .set({
      status: given.status,
      cursor: given.cursor,
      tracesFound: given.tracesFound,
      isFoundExactly: given.isFoundExactly,
      processed: given.processed,
      skipped: given.skipped,
      failed: given.failed,
      error: given.error,
      updatedAtMs: given.updatedAtMs,
      leasedUntilMs: given.leasedUntilMs,
      failures: given.failures,
    }),
);

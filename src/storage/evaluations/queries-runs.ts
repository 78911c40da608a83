/** Queries of evaluator runs. */

import { sql } from 'kysely';
import { count, find, insert, pick } from '../plain-queries.ts';
import { change, query, type Row } from '../queries.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };

export const insertRun = insert('EvaluatorRun');

export const findRun = find('EvaluatorRun', ['projectId', 'id'], 'leasedUntilMs');

export const countRunning = count('EvaluatorRun', ['projectId'], { status: 'running' });

export const removeEndedRuns = change<InProject & { readonly beforeMs: number }>((db, { projectId, beforeMs }) =>
  db
    .deleteFrom('EvaluatorRun')
    .where('projectId', '=', projectId)
    .where('createdAtMs', '<', beforeMs)
    .where('status', '<>', 'running'),
);

export const listRuns = query<InProject & { readonly limit: number }>()((db, { projectId, limit }, dialect) =>
  dialect
    .find(db, 'EvaluatorRun', { projectId }, 'leasedUntilMs')
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
);

export const cancelRun = change<OneOf & { readonly updatedAtMs: number }>(
  (db, { projectId, id, updatedAtMs }, dialect) =>
    dialect
      .update(db, 'EvaluatorRun', { projectId, id })
      .where('status', '=', 'running')
      .set({ status: 'cancelled', updatedAtMs }),
);

/**
 * Skips runs that other transactions have locked. Projects take turns: the project that was served longest ago comes
 * first, and of its runs the one that was left longest ago.
 */
export const lockIdleRun = query<{ readonly nowMs: number }>()((db, { nowMs }, { lockAvailable }) =>
  lockAvailable(
    db
      .selectFrom('EvaluatorRun')
      // A literal, so that the partial index matches.
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

const ADVANCED = [
  ...(['status', 'cursor', 'tracesFound', 'isFoundExactly', 'processed', 'skipped', 'failed', 'error'] as const),
  ...(['updatedAtMs', 'leasedUntilMs', 'failures'] as const),
] as const;

/** Changes no row when the run has ended or another worker has leased it. */
export const advanceRun = change<Lease & Pick<Row<'EvaluatorRun'>, (typeof ADVANCED)[number]>>(
  (db, params, { update }) =>
    update(db, 'EvaluatorRun', { projectId: params.projectId, id: params.id, fence: params.fence })
      .where('status', '=', 'running')
      .set(pick(params, ...ADVANCED)),
);

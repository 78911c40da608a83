/** Queries of experiments, their runs and results. Deleted rows are never found. */

import type { ResultKey } from '../../domain/experiments/experiment.ts';
import { columns, count, insertNew, ofRows, remove, rowsOf, slugQueries, update, upsert } from '../plain-queries.ts';
import { change, query } from '../queries.ts';

type InProject = { readonly projectId: string };
type OfExperiment = InProject & { readonly experimentId: string };
type OfRun = InProject & { readonly runKey: string };
type OfTarget = OfRun & { readonly targetId: string; readonly entryIndexes: readonly number[] };

export const { countLive, findById, findBySlug, listNewest, lockLive, insertUnlessTaken, hide } =
  slugQueries('Experiment');

export const touchExperiment = change<InProject & { readonly id: string; readonly updatedAtMs: number }>(
  (db, { projectId, id, updatedAtMs }, dialect) =>
    dialect.update(db, 'Experiment', { projectId, id }).where('updatedAtMs', '<', updatedAtMs).set({ updatedAtMs }),
);

export const countRuns = count('ExperimentRun', ['projectId'], { deletedAtMs: null });

type OneRun = OfExperiment & { readonly id: string };

export const findRun = query<OneRun>()((db, { projectId, experimentId, id }, { find }) =>
  find(db, 'ExperimentRun', { projectId, experimentId, id, deletedAtMs: null }, 'deletedAtMs'),
);

export const lockRun = query<OneRun>()((db, { projectId, experimentId, id }, { find, lock }) =>
  lock(find(db, 'ExperimentRun', { projectId, experimentId, id, deletedAtMs: null }, 'deletedAtMs')),
);

/** The newest first, after one of them. */
export const listRuns = query<
  OfExperiment & { readonly limit: number; readonly afterMs: number; readonly afterId: string }
>()((db, { projectId, experimentId, limit, afterMs, afterId }, { find }) =>
  find(
    db,
    'ExperimentRun',
    { projectId, experimentId, deletedAtMs: null },
    'deletedAtMs',
    'targetsJson',
    'evaluatorsJson',
  )
    .where(({ eb, and, or }) =>
      or([eb('createdAtMs', '<', afterMs), and([eb('createdAtMs', '=', afterMs), eb('id', '<', afterId)])]),
    )
    .where('createdAtMs', '<=', afterMs)
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
);

export const insertRun = insertNew('ExperimentRun');

export const updateRun = update(
  'ExperimentRun',
  ['projectId', 'key'],
  ['targetsJson', 'evaluatorsJson', 'total', 'progress', 'resultCount', 'totalBytes', 'updatedAtMs', 'finishedAtMs'],
);

export const hideRun = change<OneRun & { readonly deletedAtMs: number }>(
  (db, { projectId, experimentId, id, deletedAtMs }, { update }) =>
    update(db, 'ExperimentRun', { projectId, experimentId, id, deletedAtMs: null }).set({ deletedAtMs }),
);

export const hideRuns = change<OfExperiment & { readonly deletedAtMs: number }>(
  (db, { projectId, experimentId, deletedAtMs }, { update }) =>
    update(db, 'ExperimentRun', { projectId, experimentId, deletedAtMs: null }).set({ deletedAtMs }),
);

/** Any hidden run of any project. */
export const findHiddenRun = query<Record<never, never>>()((db) =>
  db
    .selectFrom('ExperimentRun')
    .where('deletedAtMs', 'is not', null)
    .select(['projectId as projectId', 'key as key'])
    .limit(1),
);

export const removeRun = remove('ExperimentRun', ['projectId', 'key']);

/** By ascending key. */
export const listKeys = query<OfRun & { readonly limit: number }>()((db, { projectId, runKey, limit }) =>
  rowsOf(db, 'ExperimentResult', { projectId, runKey })
    .select(['projectId as projectId', 'runKey as runKey', 'entryIndex as entryIndex', 'targetId as targetId'])
    .limit(limit),
);

export const removeResults = ofRows(remove('ExperimentResult', ['projectId', 'runKey', 'entryIndex', 'targetId']));

export const writeResults = ofRows(upsert('ExperimentResult'));

export const listFigures = query<OfRun & ResultKey & { readonly limit: number }>()(
  (db, { projectId, runKey, entryIndex, targetId, limit }) =>
    rowsOf(db, 'ExperimentResult', { projectId, runKey })
      .where('entryIndex', '>=', entryIndex)
      .where(({ eb, or }) => or([eb('entryIndex', '>', entryIndex), eb('targetId', '>', targetId)]))
      .select(({ eb }) => [
        ...columns('ExperimentResult', 'entryIndex', 'targetId', 'entryId', 'costUsd', 'durationMs', 'scores'),
        ...columns('ExperimentResult', 'bytes'),
        eb.case().when('error', 'is', null).then(0).else(1).end().as('errorCount'),
      ])
      .orderBy('entryIndex')
      .orderBy('targetId')
      .limit(limit),
);

/** Results of one target. */
export const listResults = query<OfTarget>()((db, { projectId, runKey, targetId, entryIndexes }, { find, isAmong }) =>
  find(db, 'ExperimentResult', { projectId, runKey, targetId }, 'projectId', 'runKey', 'scores', 'bytes').where(
    isAmong('entryIndex', entryIndexes),
  ),
);

/** What is asked and stored of experiments, their runs and results. What is deleted is found by nobody. */

import type { ResultKey } from '../../domain/experiments/experiment.ts';
import { insertNew, ofRows, remove, update, upsert } from '../plain-questions.ts';
import { change, type Db, question, type Words } from '../questions.ts';

type InProject = { readonly projectId: string };
type OneOf = InProject & { readonly id: string };
type OfExperiment = InProject & { readonly experimentId: string };
type OfRun = InProject & { readonly runKey: string };
type OfTarget = OfRun & { readonly targetId: string; readonly entryIndexes: readonly number[] };

export const countExperiments = question<InProject>()((db, { projectId }) =>
  db
    .selectFrom('Experiment')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findExperiment = question<OneOf>()((db, { projectId, id }, words) =>
  livingOf(db, projectId, words).where('id', '=', id),
);

/** Until the transaction ends it is not deleted. */
export const holdExperiment = question<OneOf>()((db, { projectId, id }, words) =>
  words.hold(livingOf(db, projectId, words).where('id', '=', id)),
);

export const findExperimentBySlug = question<InProject & { readonly slug: string }>()(
  (db, { projectId, slug }, words) => livingOf(db, projectId, words).where('slug', '=', slug),
);

export const listExperiments = question<InProject & { readonly limit: number }>()((db, { projectId, limit }, words) =>
  livingOf(db, projectId, words).orderBy('createdAtMs', 'desc').orderBy('id', 'desc').limit(limit),
);

function livingOf(db: Db, projectId: string, { find }: Words) {
  return find(db, 'Experiment', { projectId }, 'deletedAtMs').where('deletedAtMs', 'is', null);
}

/** Nothing, when the slug or the id is taken. */
export const insertExperiment = insertNew('Experiment');

export const hideExperiment = change<OneOf & { readonly deletedAtMs: number }>(
  (db, { projectId, id, deletedAtMs }, words) =>
    words.update(db, 'Experiment', { projectId, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

export const touchExperiment = change<OneOf & { readonly updatedAtMs: number }>(
  (db, { projectId, id, updatedAtMs }, words) =>
    words.update(db, 'Experiment', { projectId, id }).where('updatedAtMs', '<', updatedAtMs).set({ updatedAtMs }),
);

export const countRuns = question<InProject>()((db, { projectId }) =>
  db
    .selectFrom('ExperimentRun')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findRun = question<OfExperiment & { readonly id: string }>()(
  (db, { projectId, experimentId, id }, words) =>
    livingRuns(db, { projectId, experimentId }, words).where('id', '=', id),
);

export const holdRun = question<OfExperiment & { readonly id: string }>()(
  (db, { projectId, experimentId, id }, words) =>
    words.hold(livingRuns(db, { projectId, experimentId }, words).where('id', '=', id)),
);

/** The newest first. */
export const listRuns = question<OfExperiment & { readonly limit: number }>()(
  (db, { projectId, experimentId, limit }, words) =>
    listedRuns(db, { projectId, experimentId }, words)
      .orderBy('createdAtMs', 'desc')
      .orderBy('id', 'desc')
      .limit(limit),
);

export const listRunsAfter = question<
  OfExperiment & { readonly limit: number; readonly afterMs: number; readonly afterId: string }
>()((db, { projectId, experimentId, limit, afterMs, afterId }, words) =>
  listedRuns(db, { projectId, experimentId }, words)
    .where(({ eb, and, or }) =>
      or([eb('createdAtMs', '<', afterMs), and([eb('createdAtMs', '=', afterMs), eb('id', '<', afterId)])]),
    )
    .where('createdAtMs', '<=', afterMs)
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
);

function livingRuns(db: Db, { projectId, experimentId }: OfExperiment, { find }: Words) {
  return find(db, 'ExperimentRun', { projectId, experimentId }, 'deletedAtMs').where('deletedAtMs', 'is', null);
}

function listedRuns(db: Db, { projectId, experimentId }: OfExperiment, { find }: Words) {
  const known = { projectId, experimentId };
  return find(db, 'ExperimentRun', known, 'deletedAtMs', 'targetsJson', 'evaluatorsJson').where(
    'deletedAtMs',
    'is',
    null,
  );
}

export const insertRun = insertNew('ExperimentRun');

export const updateRun = update(
  'ExperimentRun',
  ['projectId', 'key'],
  ['targetsJson', 'evaluatorsJson', 'total', 'progress', 'resultCount', 'totalBytes', 'updatedAtMs', 'finishedAtMs'],
);

export const hideRun = change<OfExperiment & { readonly id: string; readonly deletedAtMs: number }>(
  (db, { projectId, experimentId, id, deletedAtMs }, words) =>
    words
      .update(db, 'ExperimentRun', { projectId, experimentId, id })
      .where('deletedAtMs', 'is', null)
      .set({ deletedAtMs }),
);

export const hideRuns = change<OfExperiment & { readonly deletedAtMs: number }>(
  (db, { projectId, experimentId, deletedAtMs }, words) =>
    words
      .update(db, 'ExperimentRun', { projectId, experimentId })
      .where('deletedAtMs', 'is', null)
      .set({ deletedAtMs }),
);

/** Any run that is hidden and not gone yet, of any project. */
export const findHiddenRun = question<Record<never, never>>()((db) =>
  db
    .selectFrom('ExperimentRun')
    .where('deletedAtMs', 'is not', null)
    .select(['projectId as projectId', 'key as key'])
    .limit(1),
);

export const removeRun = remove('ExperimentRun', ['projectId', 'key']);

/** In the order of their keys. */
export const listKeys = question<OfRun & { readonly limit: number }>()((db, { projectId, runKey, limit }) =>
  db
    .selectFrom('ExperimentResult')
    .where('projectId', '=', projectId)
    .where('runKey', '=', runKey)
    .select(['projectId as projectId', 'runKey as runKey', 'entryIndex as entryIndex', 'targetId as targetId'])
    .limit(limit),
);

export const removeResults = ofRows(remove('ExperimentResult', ['projectId', 'runKey', 'entryIndex', 'targetId']));

export const writeResults = ofRows(upsert('ExperimentResult'));

export const listFigures = question<OfRun & ResultKey & { readonly limit: number }>()(
  (db, { projectId, runKey, entryIndex, targetId, limit }) =>
    db
      .selectFrom('ExperimentResult')
      .where('projectId', '=', projectId)
      .where('runKey', '=', runKey)
      .where('entryIndex', '>=', entryIndex)
      .where(({ eb, or }) => or([eb('entryIndex', '>', entryIndex), eb('targetId', '>', targetId)]))
      .select(({ eb }) => [
        'entryIndex as entryIndex',
        'targetId as targetId',
        'entryId as entryId',
        'costUsd as costUsd',
        'durationMs as durationMs',
        'scoresJson as scoresJson',
        'bytes as bytes',
        eb.case().when('error', 'is', null).then(0).else(1).end().as('errorCount'),
      ])
      .orderBy('entryIndex')
      .orderBy('targetId')
      .limit(limit),
);

/** Those of one target. */
export const listResults = question<OfTarget>()(
  (db, { projectId, runKey, targetId, entryIndexes }, { find, isAmong }) =>
    find(db, 'ExperimentResult', { projectId, runKey, targetId }).where(isAmong('entryIndex', entryIndexes)),
);

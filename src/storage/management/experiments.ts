/** Experiments, their runs and results. Deleted rows are never found. */

import { LockMode, raw } from '@mikro-orm/core';
import type { ExperimentStore, ResultKey, ScoreFigures, StoredRun } from '../../domain/experiments/experiment.ts';
import { applyReport, type SizedResult } from '../../domain/experiments/run-report.ts';
import { ExperimentResultRow, ExperimentRow, ExperimentRunRow } from '../entities/experiments.ts';
import { type ExperimentRoom, type FiguresRow, parseResult, type ResultRow } from '../experiments/experiments.ts';
import type { EntityManager } from '../mapper.ts';
import { findLive, hasRoom, hide, insertUnlessTaken, listNewest, lockProject } from './slugs.ts';
import { plain, type Units } from './units.ts';

export function createExperimentRoom({ read, transact }: Units): ExperimentRoom {
  return {
    find: (projectId, idOrSlug) => read((em) => findLive(em, ExperimentRow, { projectId, idOrSlug })),
    list: (projectId, limit) => read((em) => listNewest(em, ExperimentRow, { projectId, limit })),
    findRun: (key) => read((em) => findRun(em, key)),
    listRuns: ({ projectId, id: experimentId }, { after, limit }) =>
      read((em) => {
        const runs = em
          .createQueryBuilder(ExperimentRunRow)
          .select([...LISTED])
          .where({ projectId, experimentId, deletedAtMs: null })
          .orderBy({ createdAtMs: 'desc', id: 'desc' })
          .limit(limit);
        if (after === null) return runs.execute('all');
        const { createdAtMs, id } = after;
        const behind = { $or: [{ createdAtMs: { $lt: createdAtMs } }, { createdAtMs, id: { $lt: id } }] };
        return runs.andWhere({ createdAtMs: { $lte: createdAtMs }, ...behind }).execute('all');
      }),
    figuresAfter: ({ projectId, key: runKey }, { entryIndex, targetId }, limit) =>
      read((em) =>
        em
          .createQueryBuilder(ExperimentResultRow)
          .select([...FIGURES, raw('error is not null as "hasError"')])
          .where({ projectId, runKey, entryIndex: { $gte: entryIndex } })
          .andWhere({ $or: [{ entryIndex: { $gt: entryIndex } }, { targetId: { $gt: targetId } }] })
          .orderBy({ entryIndex: 'asc', targetId: 'asc' })
          .limit(limit)
          .execute<FiguresRow[]>('all'),
      ),
    resultRows: (run, keys) => read((em) => findResults(em, run, keys)),
    ...createChanges(transact),
    ...createRunChanges(transact),
  };
}

function createChanges(transact: Units['transact']): Pick<ExperimentStore, 'init' | 'remove' | 'insertRun'> {
  return {
    init: (experiment, liveMax) =>
      transact(async ({ em }) => {
        const { projectId, slug } = experiment;
        const named = { projectId, slug, deletedAtMs: null };
        const isBelowMax = await hasRoom(em, ExperimentRow, { projectId, liveMax });
        const known = await em.findOne(ExperimentRow, named);
        if (known !== null) return plain(known, 'deletedAtMs');
        if (!isBelowMax) return 'limit_reached';
        const outcome = await insertUnlessTaken(em, ExperimentRow, { ...experiment, deletedAtMs: null });
        if (outcome === 'stored') return experiment;
        // Another transaction was first: a project without a row cannot be locked.
        return plain(await em.findOneOrFail(ExperimentRow, named), 'deletedAtMs');
      }),
    remove: (projectId, id, nowMs) =>
      transact(async ({ em }) => {
        await lockProject(em, projectId);
        if (!(await hide(em, ExperimentRow, { projectId, id, nowMs }))) return false;
        const runs = { projectId, experimentId: id, deletedAtMs: null };
        await em.nativeUpdate(ExperimentRunRow, runs, { deletedAtMs: nowMs });
        return true;
      }),
    insertRun: (run, runsMax) =>
      transact(async ({ em }) => {
        const { projectId, experimentId } = run;
        await lockProject(em, projectId);
        const live = { projectId, id: experimentId, deletedAtMs: null };
        const experiment = await em.findOne(ExperimentRow, live, { lockMode: LockMode.PESSIMISTIC_WRITE });
        if (experiment === null) return 'not_found';
        const known = await findRun(em, run);
        if (known !== null) return known;
        if ((await em.count(ExperimentRunRow, { projectId, deletedAtMs: null })) >= runsMax) return 'limit_reached';
        const insert = em.createQueryBuilder(ExperimentRunRow).insert({ ...run, deletedAtMs: null });
        const { affectedRows } = await insert.onConflict().ignore().execute('run');
        if (affectedRows > 0) {
          experiment.updatedAtMs = Math.max(experiment.updatedAtMs, run.createdAtMs);
          return run;
        }
        const taken = await findRun(em, run);
        if (taken === null) throw new Error('the key of a run is taken');
        return taken;
      }),
  };
}

function createRunChanges(transact: Units['transact']): Pick<ExperimentStore, 'report' | 'hideRun' | 'removeHidden'> {
  return {
    report: (key, report, limits) =>
      transact(async ({ em }) => {
        const row = await em.findOne(ExperimentRunRow, liveRun(key), { lockMode: LockMode.PESSIMISTIC_WRITE });
        if (row === null) return null;
        const run = plain(row, 'deletedAtMs');
        const known = (await findResults(em, run, report.results)).map(parseResult);
        const applied = applyReport(run, known, { report, limits });
        if (applied.isRunChanged) em.assign(row, applied.run);
        await writeResults(em, run, applied.results);
        return { run: applied.run, refused: applied.refused };
      }),
    hideRun: (key, nowMs) =>
      transact(async ({ em }) => (await em.nativeUpdate(ExperimentRunRow, liveRun(key), { deletedAtMs: nowMs })) > 0),
    removeHidden: (rowsMax) =>
      transact(async ({ em }) => {
        const hidden = await em.findOne(
          ExperimentRunRow,
          { deletedAtMs: { $ne: null } },
          { fields: ['projectId', 'key'] },
        );
        if (hidden === null) return false;
        const { projectId, key } = hidden;
        const results = { projectId, runKey: key };
        const ascending = {
          orderBy: { entryIndex: 'asc', targetId: 'asc' },
          fields: ['entryIndex', 'targetId'],
        } as const;
        const [last] = await em.find(ExperimentResultRow, results, { ...ascending, offset: rowsMax - 1, limit: 1 });
        if (last === undefined) {
          await em.nativeDelete(ExperimentResultRow, results);
          await em.nativeDelete(ExperimentRunRow, { projectId, key });
        } else {
          const { entryIndex, targetId } = last;
          const upToLast = { $or: [{ entryIndex: { $lt: entryIndex } }, { entryIndex, targetId: { $lte: targetId } }] };
          await em.nativeDelete(ExperimentResultRow, { ...results, ...upToLast });
        }
        return true;
      }),
  };
}

const LISTED = [
  ...(['projectId', 'key', 'experimentId', 'id', 'name', 'datasetId', 'datasetVersion', 'total', 'progress'] as const),
  ...(['resultCount', 'totalBytes', 'createdAtMs', 'updatedAtMs', 'finishedAtMs'] as const),
];
const FIGURES = ['entryIndex', 'targetId', 'entryId', 'costUsd', 'durationMs', 'bytes', 'scores'] as const;
const RESULT = [
  ...(['entryIndex', 'targetId', 'entryId', 'traceId', 'entryJson', 'predictedJson', 'costUsd', 'durationMs'] as const),
  ...(['error', 'evaluations'] as const),
];
// Bounds the parameters of a statement.
const WRITTEN_AT_ONCE = 200;

type RunId = Parameters<ExperimentStore['findRun']>[0];

const liveRun = ({ projectId, experimentId, id }: RunId) => ({ projectId, experimentId, id, deletedAtMs: null });

async function findRun(em: EntityManager, key: RunId) {
  const run = await em.findOne(ExperimentRunRow, liveRun(key));
  return run === null ? null : plain(run, 'deletedAtMs');
}

/** One query per target. Rows, because a unit of work would write the JSON of each entity again to compare it. */
async function findResults(
  em: EntityManager,
  { projectId, key: runKey }: StoredRun,
  keys: readonly ResultKey[],
): Promise<readonly ResultRow[]> {
  const found: ResultRow[] = [];
  for (const [targetId, some] of Map.groupBy(keys, (key) => key.targetId)) {
    const entryIndex = { $in: [...new Set(some.map((key) => key.entryIndex))] };
    const results = em.createQueryBuilder(ExperimentResultRow).select([...RESULT]);
    found.push(...(await results.where({ projectId, runKey, targetId, entryIndex }).execute<ResultRow[]>('all')));
  }
  return found;
}

async function writeResults(
  em: EntityManager,
  { projectId, key: runKey }: StoredRun,
  results: readonly SizedResult[],
): Promise<void> {
  for (let start = 0; start < results.length; start += WRITTEN_AT_ONCE) {
    const some = results.slice(start, start + WRITTEN_AT_ONCE);
    const rows = some.map((result) => ({ ...result, projectId, runKey, scores: scoresOf(result) }));
    const insert = em.createQueryBuilder(ExperimentResultRow).insert(rows);
    await insert.onConflict(['projectId', 'runKey', 'entryIndex', 'targetId']).merge().execute('run');
  }
}

function scoresOf({ evaluations }: SizedResult): readonly ScoreFigures[] {
  return evaluations.map(({ name, status, score, passed, costUsd, durationMs }) => ({
    ...{ name, status, score, passed },
    ...{ costUsd, durationMs },
  }));
}

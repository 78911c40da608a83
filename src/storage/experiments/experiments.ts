/** Stores experiments, their runs and results. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ExperimentResult,
  ExperimentStore,
  ResultKey,
  ScoreFigures,
  StoredRun,
} from '../../domain/experiments/experiment.ts';
import { applyReport, type SizedResult } from '../../domain/experiments/run-report.ts';
import { limitReads, RUNS, readPages } from '../long-reads.ts';
import type { Queries, QueryRunner, RunQuery, Transact } from '../queries.ts';
import { findByIdOrSlug, hasRoom } from '../slugs.ts';

export function createExperimentStore(
  { queries: { experiments }, runQuery }: QueryRunner,
  writer: ExperimentWriter,
): ExperimentStore {
  const readFigures = limitReads(
    async ({ run: { projectId, key: runKey }, visit }: FiguresRead) => {
      const pages = readPages(FIGURES_AT_ONCE, (last: ResultKey | null) => {
        const { entryIndex, targetId } = last ?? { entryIndex: -1, targetId: '' };
        return runQuery(experiments.listFigures, { projectId, runKey, entryIndex, targetId, limit: FIGURES_AT_ONCE });
      });
      for await (const rows of pages) {
        for (const { errorCount, ...rest } of rows) visit({ ...rest, hasError: Number(errorCount) > 0 });
        await nextTurn();
      }
    },
    ({ run }) => run.projectId,
    RUNS,
  );
  return {
    find: (projectId, idOrSlug) => findByIdOrSlug({ queries: experiments, runQuery }, projectId, idOrSlug),
    list: (projectId, limit) => runQuery(experiments.listNewest, { projectId, limit }),
    findRun: async (key) => (await runQuery(experiments.findRun, key))[0] ?? null,
    listRuns({ projectId, id: experimentId }, { after, limit }) {
      const { createdAtMs: afterMs, id: afterId } = after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
      return runQuery(experiments.listRuns, { projectId, experimentId, limit, afterMs, afterId });
    },
    figures: (run, visit) => readFigures({ run, visit }),
    results: (run, keys) => findResults({ queries: { experiments }, runQuery }, run, keys),
    init: writer.initExperiment,
    hide: writer.hideExperiment,
    insertRun: writer.insertExperimentRun,
    report: writer.reportExperimentRun,
    hideRun: writer.hideExperimentRun,
    removeHidden: writer.removeHiddenExperimentRuns,
  };
}

type ExperimentWriter = {
  initExperiment: ExperimentStore['init'];
  hideExperiment: ExperimentStore['hide'];
  insertExperimentRun: ExperimentStore['insertRun'];
  reportExperimentRun: ExperimentStore['report'];
  hideExperimentRun: ExperimentStore['hideRun'];
  removeHiddenExperimentRuns: ExperimentStore['removeHidden'];
};

export function createExperimentWriter(transact: Transact): ExperimentWriter {
  return {
    initExperiment: (experiment, liveMax) =>
      transact(async (tx) => {
        const { experiments, organization } = tx.queries;
        const { projectId, slug } = experiment;
        await tx.runQuery(organization.lockProject, { projectId });
        const [known] = await tx.runQuery(experiments.findBySlug, { projectId, slug });
        if (known !== undefined) return known;
        if (!(await hasRoom(tx, experiments, { projectId, liveMax }))) return 'limit_reached';
        if ((await tx.change(experiments.insertUnlessTaken, { ...experiment, deletedAtMs: null })) > 0)
          return experiment;
        // Another transaction was first: a project without a row cannot be locked.
        const [taken] = await tx.runQuery(experiments.findBySlug, { projectId, slug });
        if (taken === undefined) throw new Error('the id of an experiment is taken');
        return taken;
      }),
    hideExperiment: (projectId, id, nowMs) =>
      transact(async ({ runQuery, change, queries: { experiments, organization } }) => {
        await runQuery(organization.lockProject, { projectId });
        if ((await change(experiments.hide, { projectId, id, deletedAtMs: nowMs })) === 0) return false;
        await change(experiments.hideRuns, { projectId, experimentId: id, deletedAtMs: nowMs });
        return true;
      }),
    insertExperimentRun: (run, runsMax) =>
      transact(async ({ runQuery, change, queries: { experiments, organization } }) => {
        const { projectId, experimentId, id } = run;
        await runQuery(organization.lockProject, { projectId });
        const [experiment] = await runQuery(experiments.lockLive, { projectId, id: experimentId });
        if (experiment === undefined) return 'not_found';
        const [known] = await runQuery(experiments.findRun, { projectId, experimentId, id });
        if (known !== undefined) return known;
        const [stored] = await runQuery(experiments.countRuns, { projectId });
        if (stored === undefined || stored.count >= runsMax) return 'limit_reached';
        if ((await change(experiments.insertRun, { ...run, deletedAtMs: null })) > 0) {
          await change(experiments.touchExperiment, { projectId, id: experimentId, updatedAtMs: run.createdAtMs });
          return run;
        }
        const [taken] = await runQuery(experiments.findRun, { projectId, experimentId, id });
        if (taken === undefined) throw new Error('the key of a run is taken');
        return taken;
      }),
    reportExperimentRun: (key, report, limits) =>
      transact(async ({ runQuery, change, changeRows, queries: { experiments } }) => {
        const [run] = await runQuery(experiments.lockRun, key);
        if (run === undefined) return null;
        const { projectId, key: runKey } = run;
        const known = await findResults({ queries: { experiments }, runQuery }, run, report.results);
        const applied = applyReport(run, known, { report, limits });
        if (applied.isRunChanged) await change(experiments.updateRun, applied.run);
        changeRows(
          experiments.writeResults,
          applied.results.map((result) => ({ ...result, projectId, runKey, scores: scoresOf(result) })),
        );
        return { run: applied.run, refused: applied.refused };
      }),
    hideExperimentRun: ({ projectId, experimentId, id }, nowMs) =>
      transact(
        async ({ change, queries: { experiments } }) =>
          (await change(experiments.hideRun, { projectId, experimentId, id, deletedAtMs: nowMs })) > 0,
      ),
    removeHiddenExperimentRuns: (rowsMax) =>
      transact(async ({ runQuery, change, changeRows, queries: { experiments } }) => {
        const [hidden] = await runQuery(experiments.findHiddenRun, {});
        if (hidden === undefined) return false;
        const { projectId, key: runKey } = hidden;
        const keys = await runQuery(experiments.listKeys, { projectId, runKey, limit: rowsMax });
        changeRows(experiments.removeResults, keys);
        if (keys.length < rowsMax) await change(experiments.removeRun, { projectId, key: runKey });
        return true;
      }),
  };
}

type FiguresRead = {
  readonly run: StoredRun;
  readonly visit: Parameters<ExperimentStore['figures']>[1];
};

// A result may have hundreds of scores, which are parsed in one turn of the event loop.
const FIGURES_AT_ONCE = 25;

type ResultReader = { readonly queries: Pick<Queries, 'experiments'>; readonly runQuery: RunQuery };

/** One query per target. */
async function findResults(
  { queries: { experiments }, runQuery }: ResultReader,
  { projectId, key: runKey }: Pick<StoredRun, 'projectId' | 'key'>,
  keys: readonly ResultKey[],
): Promise<readonly ExperimentResult[]> {
  const found: ExperimentResult[] = [];
  for (const [targetId, some] of Map.groupBy(keys, (key) => key.targetId)) {
    const entryIndexes = [...new Set(some.map(({ entryIndex }) => entryIndex))];
    found.push(...(await runQuery(experiments.listResults, { projectId, runKey, targetId, entryIndexes })));
  }
  return found;
}

function scoresOf({ evaluations }: SizedResult): readonly ScoreFigures[] {
  return evaluations.map(({ name, status, score, passed, costUsd, durationMs }) => ({
    ...{ name, status, score, passed },
    ...{ costUsd, durationMs },
  }));
}

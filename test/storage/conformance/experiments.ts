import { describe, expect, it } from 'vitest';
import type {
  Experiment,
  ExperimentResult,
  ExperimentRun,
  ResultFigures,
  ResultReport,
  RunLimits,
  RunReport,
} from '../../../src/domain/experiments/experiment.ts';
import { type OpenManagement, withStore } from './subject.ts';

const MANY = 1000;
const TENANT = { organizationId: 'organization_1', projectId: 'project_1' };
const AT_MS = 1_760_000_000_000;
const LIMITS: RunLimits = {
  resultsMax: MANY,
  totalMaxBytes: 1_000_000,
  resultMaxBytes: 10_000,
  evaluationsMax: 10,
  evaluatorsMax: 4,
  targetsMax: 10,
  targetsMaxBytes: 100,
};

const sampleExperiment = (changes: Partial<Experiment> = {}): Experiment => ({
  projectId: 'project_1',
  id: 'experiment_1',
  name: 'Größe',
  slug: 'a-slug',
  createdAtMs: AT_MS,
  updatedAtMs: AT_MS,
  ...changes,
});

const sampleRun = (changes: Partial<ExperimentRun> = {}): ExperimentRun => ({
  projectId: 'project_1',
  experimentId: 'experiment_1',
  id: 'run',
  key: 'runkey_1',
  name: 'Ü',
  datasetId: 'dataset_1',
  datasetVersion: 2,
  targetsJson: '[]',
  evaluatorsJson: '[]',
  total: 3,
  progress: null,
  resultCount: 0,
  totalBytes: 0,
  createdAtMs: AT_MS,
  updatedAtMs: AT_MS,
  finishedAtMs: null,
  ...changes,
});

const sampleResult = (entryIndex: number, changes: Partial<ExperimentResult> = {}): ExperimentResult => ({
  entryIndex,
  targetId: '',
  entryId: `dataset_1-${entryIndex}`,
  traceId: null,
  entryJson: '{"z":1.50,"a":"Ü"}',
  predictedJson: null,
  costUsd: 0.25,
  durationMs: 1.5,
  error: null,
  evaluations: [sampleEvaluation('Same')],
  ...changes,
});

const sampleEvaluation = (name: string) => ({
  ...{ name, evaluator: 'langevals/exact_match', status: 'processed' as const, score: 0.5, passed: true, label: null },
  ...{ details: 'why', costUsd: null, durationMs: 2, traceId: null, inputsJson: '{"n":1.50}' },
});

const keysOf = (...indexes: readonly number[]) => indexes.map((entryIndex) => ({ entryIndex, targetId: '' }));

const reportOf = (results: readonly ExperimentResult[], changes: Partial<RunReport> = {}): RunReport => ({
  targets: [],
  total: null,
  progress: null,
  finishedAtMs: null,
  results: results.map((result, index): ResultReport => ({ ...result, field: `dataset.${index}` })),
  nowMs: AT_MS + 5,
  ...changes,
});

export function experimentConformance(open: OpenManagement): void {
  describe('experiments', () => {
    it(
      'are made once by slug and found by it and by id, by no other project, up to the limit of the project',
      withStore(open, async ({ experiments }) => {
        const experiment = sampleExperiment();
        expect(await experiments.init(experiment, MANY)).toEqual(experiment);
        expect(await experiments.init(sampleExperiment({ id: 'experiment_2', name: 'Other' }), 1)).toEqual(experiment);
        expect(await experiments.find('project_1', 'experiment_1')).toEqual(experiment);
        expect(await experiments.find('project_1', 'a-slug')).toEqual(experiment);
        expect(await experiments.find('project_1', 'A-Slug')).toBeNull();
        expect(await experiments.find('project_2', 'experiment_1')).toBeNull();
        const other = sampleExperiment({ id: 'experiment_3', slug: 'b', createdAtMs: AT_MS + 1 });
        expect(await experiments.init(other, 1)).toBe('limit_reached');
        expect(await experiments.init(other, 2)).toEqual(other);
        expect((await experiments.list('project_1', MANY)).map(({ id }) => id)).toEqual([
          'experiment_3',
          'experiment_1',
        ]);
        expect(await experiments.list('project_2', MANY)).toEqual([]);
      }),
    );

    it(
      'have runs, one by each id, listed the newest first',
      withStore(open, async ({ experiments }) => {
        await experiments.init(sampleExperiment(), MANY);
        const run = sampleRun();
        expect(await experiments.insertRun(run, 1)).toEqual(run);
        expect(await experiments.insertRun(sampleRun({ key: 'runkey_2', total: 9 }), 1)).toEqual(run);
        expect(await experiments.insertRun(sampleRun({ key: 'runkey_2', id: 'b' }), 1)).toBe('limit_reached');
        expect(await experiments.insertRun(sampleRun({ experimentId: 'none', key: 'runkey_2' }), MANY)).toBe(
          'not_found',
        );
        expect(await experiments.findRun(run)).toEqual(run);
        expect(await experiments.findRun({ ...run, projectId: 'project_2' })).toBeNull();
        const later = sampleRun({ id: 'b', key: 'runkey_2', createdAtMs: AT_MS + 1, datasetId: null });
        const same = sampleRun({ id: 'c', key: 'runkey_3', createdAtMs: AT_MS + 1 });
        for (const each of [later, same]) await experiments.insertRun(each, MANY);
        const ids = async (after: { createdAtMs: number; id: string } | null, limit: number) =>
          (await experiments.listRuns(sampleExperiment(), { after, limit })).map(({ id }) => id);
        expect(await ids(null, MANY)).toEqual(['c', 'b', 'run']);
        expect(await ids(null, 1)).toEqual(['c']);
        expect(await ids(same, MANY)).toEqual(['b', 'run']);
      }),
    );

    it(
      'keep everything reported of a run, and change nothing when it is reported again',
      withStore(open, async ({ experiments }) => {
        await experiments.init(sampleExperiment(), MANY);
        const run = sampleRun();
        await experiments.insertRun(run, MANY);
        const results = [
          sampleResult(10),
          sampleResult(2),
          sampleResult(2, { targetId: 't', error: 'broke', costUsd: null }),
        ];
        const targets = [{ id: 't', metadataJson: '{"n":1}' }];
        const report = reportOf(results, { targets, progress: 2, finishedAtMs: AT_MS + 9 });
        const reported = await experiments.report(run, report, LIMITS);
        expect(reported?.refused).toEqual([]);
        const stored = reported?.run ?? run;
        expect(stored).toMatchObject({
          resultCount: 3,
          total: 3,
          progress: 2,
          finishedAtMs: AT_MS + 9,
          updatedAtMs: AT_MS + 5,
        });
        expect(await experiments.findRun(run)).toEqual(stored);
        expect(await experiments.report(run, { ...report, nowMs: AT_MS + 99 }, LIMITS)).toEqual({
          run: stored,
          refused: [],
        });
        expect(await experiments.results(run, keysOf(10, 11))).toEqual([results[0]]);
        // Reads no other target of the entry.
        expect(await experiments.results(run, keysOf(2))).toEqual([results[1]]);
        expect(await experiments.results(run, [{ entryIndex: 2, targetId: 't' }])).toEqual([results[2]]);
        expect(await experiments.results({ ...run, projectId: 'project_2' }, keysOf(2))).toEqual([]);
        const figures: ResultFigures[] = [];
        await experiments.figures(TENANT, run.key, (each) => void figures.push(each));
        expect(
          figures.map(({ entryIndex, targetId, hasError, costUsd }) => [entryIndex, targetId, hasError, costUsd]),
        ).toEqual([
          [2, '', false, 0.25],
          [2, 't', true, null],
          [10, '', false, 0.25],
        ]);
        const { name, status, score, passed, costUsd, durationMs } = sampleEvaluation('Same');
        expect(figures[0]?.scores).toEqual([{ name, status, score, passed, costUsd, durationMs }]);
        const targetBytes = 8;
        expect(figures.reduce((sum, { bytes }) => sum + bytes, targetBytes)).toBe(stored.totalBytes);
      }),
    );

    it(
      'visits the figures of every result of a large run once, in the order of the keys',
      withStore(open, async ({ experiments }) => {
        await experiments.init(sampleExperiment(), MANY);
        const run = sampleRun();
        await experiments.insertRun(run, MANY);
        const indexes = Array.from({ length: 130 }, (_, index) => index);
        // Short and long ones, so that pages of different lengths follow each other.
        const scoredBy = (index: number) => sampleEvaluation(index < 60 ? 'n'.repeat(8_000) : 'n');
        const results = indexes.map((index) => sampleResult(index, { evaluations: [scoredBy(index)] }));
        await experiments.report(run, reportOf(results), { ...LIMITS, totalMaxBytes: 10_000_000, evaluatorsMax: 200 });
        const visited: number[] = [];
        await experiments.figures(TENANT, run.key, ({ entryIndex }) => void visited.push(entryIndex));
        expect(visited).toEqual(indexes);
      }),
    );

    it(
      'keep concurrent reports separate',
      withStore(open, async ({ experiments }) => {
        await experiments.init(sampleExperiment(), MANY);
        const run = sampleRun();
        await experiments.insertRun(run, MANY);
        const names = ['a', 'b', 'c', 'd'];
        const reports = names.map((name) => reportOf([sampleResult(0, { evaluations: [sampleEvaluation(name)] })]));
        await Promise.all(reports.map((report) => experiments.report(run, report, LIMITS)));
        const [result] = await experiments.results(run, keysOf(0));
        expect(result?.evaluations.map(({ name }) => name).toSorted()).toEqual(names);
        expect((await experiments.findRun(run))?.resultCount).toBe(1);
        expect(await experiments.report({ ...run, id: 'none' }, reportOf([]), LIMITS)).toBeNull();
      }),
    );

    it(
      'and their runs are hidden from every read once they are deleted, and go in steps',
      withStore(open, async ({ experiments }) => {
        await experiments.init(sampleExperiment(), MANY);
        const [run, other] = [sampleRun(), sampleRun({ id: 'b', key: 'runkey_2' })];
        for (const each of [run, other]) {
          await experiments.insertRun(each, MANY);
          await experiments.report(each, reportOf([sampleResult(0), sampleResult(1), sampleResult(2)]), LIMITS);
        }
        expect(await experiments.removeHidden(2)).toBe(false);
        expect(await experiments.hideRun({ ...run, projectId: 'project_2' }, AT_MS)).toBe(false);
        expect(await experiments.hideRun(run, AT_MS)).toBe(true);
        expect(await experiments.hideRun(run, AT_MS)).toBe(false);
        expect(await experiments.findRun(run)).toBeNull();
        expect(await experiments.report(run, reportOf([]), LIMITS)).toBeNull();
        // A new run with the same id has no old results.
        const again = sampleRun({ key: 'runkey_3' });
        // The limit ignores hidden runs.
        expect(await experiments.insertRun(again, 2)).toEqual(again);
        expect(await experiments.results(again, keysOf(0))).toEqual([]);
        expect(await experiments.removeHidden(2)).toBe(true);
        expect(await experiments.results(run, keysOf(0, 1, 2))).toHaveLength(1);
        expect(await experiments.removeHidden(2)).toBe(true);
        expect(await experiments.removeHidden(2)).toBe(false);
        expect(await experiments.results(run, keysOf(0, 1, 2))).toEqual([]);
        expect(await experiments.remove('project_2', 'experiment_1', AT_MS)).toBe(false);
        expect(await experiments.remove('project_1', 'experiment_1', AT_MS)).toBe(true);
        expect(await experiments.remove('project_1', 'experiment_1', AT_MS)).toBe(false);
        expect(await experiments.find('project_1', 'a-slug')).toBeNull();
        expect(await experiments.findRun(other)).toBeNull();
        expect(await experiments.insertRun(sampleRun({ id: 'c', key: 'runkey_4' }), MANY)).toBe('not_found');
        const successor = sampleExperiment({ id: 'experiment_2' });
        expect(await experiments.init(successor, 1)).toEqual(successor);
      }),
    );
  });
}

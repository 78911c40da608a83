import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Project } from '../../src/domain/caller.ts';
import { createDatasets } from '../../src/domain/datasets/datasets.ts';
import type { ExperimentResult, ExperimentRun } from '../../src/domain/experiments/experiment.ts';
import { createExperimentRuns, readFigures, readResults } from '../../src/domain/experiments/runs.ts';
import type { Store } from '../../src/domain/store.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { temporaryFolder } from '../support/temp.ts';
import { quietLog } from './quiet-log.ts';

const MIB = 1024 * 1024;
/** Of texts in one message or its answer; names and numbers are beside it. */
const MESSAGE_MAX_BYTES = 2 * MIB;
const FRAME_BYTES = 256 * 1024;
const AT_MS = 1_760_000_000_000;
const RESOURCE = { projectId: 'project_1', name: 'Large', createdAtMs: AT_MS, updatedAtMs: AT_MS };

/** `sentBytes`: of the message. */
type Answered = { readonly verb: string; readonly bytes: number; readonly sentBytes: number };

/** A store whose answers of the writer are measured. `before` is called with each verb. */
async function withMeasuredStore(
  body: (store: Store, answered: Answered[], hook: { before(verb: string): Promise<void> }) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder();
  const opened = openCore({ file: join(folder.path, 'spandrel.db'), clock: Date.now });
  const answered: Answered[] = [];
  const hook = { before: async (_: string): Promise<void> => undefined };
  const measured = Object.entries(opened.core.verbs).map(([verb, serve]) => [
    verb,
    async (...args: never[]) => {
      await hook.before(verb);
      const answer: unknown = await (serve as (...each: never[]) => Promise<unknown>)(...args);
      answered.push({ verb, bytes: textBytes(answer), sentBytes: textBytes(args) });
      return answer;
    },
  ]);
  const core = { ...opened.core, verbs: Object.fromEntries(measured) };
  const store = createInlineStore({ ...opened, core }, { queueMaxBytes: MIB, log: quietLog });
  try {
    await body(store, answered, hook);
  } finally {
    await store.close();
    folder.remove();
  }
}

function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + textBytes(each), 0);
}

function largestOf(answered: readonly Answered[], room: string, of: 'bytes' | 'sentBytes' = 'bytes'): number {
  return Math.max(...answered.filter(({ verb }) => verb.startsWith(`${room}.`)).map((each) => each[of]));
}

/** Entries of a version; characters of one to four bytes, so that no step ends where another one would. */
function versionOf(version: number, entryLines: string) {
  return { version, firstPosition: version - 1, entryLines, createdAtMs: AT_MS + version };
}

const VERSIONS = [
  versionOf(1, ''),
  versionOf(2, JSON.stringify({ text: 'aß日😀"\\'.repeat((5 * MIB) / 13) })),
  versionOf(3, JSON.stringify({ text: 'x'.repeat(1.5 * MIB) })),
  versionOf(4, JSON.stringify({ text: '日'.repeat(0.4 * MIB) })),
  ...Array.from({ length: 30 }, (_, index) =>
    versionOf(5 + index, JSON.stringify({ index, text: 'y'.repeat(MIB / 8) })),
  ),
];

async function insertDataset({ datasets }: Store) {
  const dataset = { ...RESOURCE, id: 'dataset_1', slug: 'large', version: 1, entryCount: 0, totalBytes: 0 };
  const [first, ...others] = VERSIONS;
  if (first === undefined) throw new Error('no version');
  expect(await datasets.insert(dataset, first, 10)).toBe('stored');
  for (const next of others) expect(await datasets.append({ ...dataset, version: next.version }, next)).toBe('stored');
  return dataset;
}

describe('a message to the writer', () => {
  it('reads at most 2 MiB of a dataset, however large the dataset and its entries are', () =>
    withMeasuredStore(async (store, answered) => {
      const dataset = await insertDataset(store);
      for (const last of [VERSIONS.length, 3]) {
        const read = await store.datasets.versions(dataset, last);
        expect(read.every((each, index) => each.entryLines === VERSIONS[index]?.entryLines)).toBe(true);
        expect(read.map(({ entryLines: _, ...rest }) => rest)).toEqual(
          VERSIONS.slice(0, last).map(({ entryLines: _, ...rest }) => rest),
        );
      }
      expect(largestOf(answered, 'datasets')).toBeGreaterThan(MESSAGE_MAX_BYTES / 2);
      expect(largestOf(answered, 'datasets')).toBeLessThanOrEqual(MESSAGE_MAX_BYTES + FRAME_BYTES);
    }));

  it('finds no part of a dataset that is removed between two messages', () =>
    withMeasuredStore(async (store, _, hook) => {
      const dataset = await insertDataset(store);
      let reads = 0;
      hook.before = async (verb) => {
        if (verb !== 'datasets.lines') return;
        reads += 1;
        if (reads === 3) await store.datasets.remove(dataset.projectId, dataset.id, AT_MS);
      };
      const unused = undefined as never;
      const datasets = createDatasets({ store: store.datasets, ...{ random: unused, searches: unused }, ...NO_PAUSES });
      await expect(datasets.get({ id: dataset.projectId } as never, dataset.id, null)).rejects.toMatchObject({
        code: 'dataset_not_found',
      });
      expect(reads).toBe(3);
    }));

  it('stores and reads at most 2 MiB of the results of a run, however large they are', () =>
    withMeasuredStore(async (store, answered) => {
      const { experiments } = store;
      await experiments.init({ ...RESOURCE, id: 'experiment_1', slug: 'large' }, 10);
      expect(await experiments.insertRun(RUN, 10)).toEqual(RUN);
      const results = Array.from({ length: 60 }, (_, index) => resultOf(index));
      const unused = undefined as never;
      const project = { id: RUN.projectId } as Project;
      const runs = createExperimentRuns({ store: experiments, datasets: unused, random: unused, cursors: unused });
      const reported = results.map((result, index) => ({ ...result, field: `dataset.${index}` }));
      const { refused } = await runs.log(
        project,
        { experiment: RUN.experimentId, id: RUN.id },
        { ...NOTHING_ELSE, results: reported, finishedAtMs: AT_MS },
      );
      expect(refused).toEqual([]);
      expect((await experiments.findRun(RUN))?.finishedAtMs).toBe(AT_MS);
      expect(largestOf(answered, 'experiments', 'sentBytes')).toBeGreaterThan(MESSAGE_MAX_BYTES / 2);
      expect(largestOf(answered, 'experiments', 'sentBytes')).toBeLessThanOrEqual(MESSAGE_MAX_BYTES + FRAME_BYTES);
      const { figures } = await readFigures(experiments, { project, run: RUN, target: null });
      expect(await readResults(experiments, RUN, figures)).toEqual(results);
      expect(largestOf(answered, 'experiments')).toBeGreaterThan(MESSAGE_MAX_BYTES / 2);
      expect(largestOf(answered, 'experiments')).toBeLessThanOrEqual(MESSAGE_MAX_BYTES + FRAME_BYTES);
    }));
});

const NO_PAUSES = { runCooperatively: undefined as never, yieldToEventLoop: undefined as never };

const RUN: ExperimentRun = {
  ...{ projectId: 'project_1', experimentId: 'experiment_1', id: 'run', key: 'runkey_1', name: 'Large' },
  ...{ datasetId: null, datasetVersion: null, targetsJson: '[]', evaluatorsJson: '[]', total: null, progress: null },
  ...{ resultCount: 0, totalBytes: 0, createdAtMs: AT_MS, updatedAtMs: AT_MS, finishedAtMs: null },
};

const NOTHING_ELSE = { targets: [], total: null, progress: null, name: null, createdAtMs: null, nowMs: AT_MS };

function resultOf(entryIndex: number): ExperimentResult {
  return {
    ...{ entryIndex, targetId: '', entryId: null, traceId: null, costUsd: null, durationMs: null, error: null },
    // Large and small ones.
    predictedJson: JSON.stringify({ text: 'é'.repeat(entryIndex % 3 === 0 ? 10 : 100_000) }),
    ...{ entryJson: null, evaluations: [] },
  };
}

/** The store of experiments. Its long reads go page by page, and parse lists in this thread, not in the writer's. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Tenant } from '../../domain/caller.ts';
import type {
  ExperimentResult,
  ExperimentStore,
  ResultFigures,
  ResultKey,
  StoredRun,
} from '../../domain/experiments/experiment.ts';
import { limitReads, RUNS, readPages } from '../long-reads.ts';

/** What the object mapper serves of the store. Its reads return lists as their JSON texts. */
export type ExperimentRoom = Omit<ExperimentStore, 'figures' | 'results'> & {
  /** By ascending key. */
  readonly figuresAfter: (run: StoredRun, after: ResultKey, limit: number) => Promise<readonly FiguresRow[]>;
  readonly resultRows: (run: StoredRun, keys: readonly ResultKey[]) => Promise<readonly ResultRow[]>;
};

export type FiguresRow = Omit<ResultFigures, 'hasError' | 'scores'> & {
  /** SQLite has numbers instead. */
  readonly hasError: boolean | number;
  readonly scores: string;
};
export type ResultRow = Omit<ExperimentResult, 'evaluations'> & { readonly evaluations: string };

export function createExperimentStore(room: ExperimentRoom): ExperimentStore {
  const readFigures = limitReads(
    async ({ tenant: { projectId }, key, visit }: FiguresRead) => {
      const pages = readPages(FIGURES_AT_ONCE, (last: ResultKey | null) => {
        const { entryIndex, targetId } = last ?? { entryIndex: -1, targetId: '' };
        return room.figuresAfter({ projectId, key }, { entryIndex, targetId }, FIGURES_AT_ONCE);
      });
      for await (const rows of pages) {
        for (const { hasError, scores, ...rest } of rows) {
          visit({ ...rest, hasError: Boolean(hasError), scores: JSON.parse(scores) });
        }
        await yieldToEventLoop();
      }
    },
    ({ tenant }) => tenant,
    RUNS,
  );
  return {
    ...room,
    // Runs have long texts, which need not pass between threads.
    figures: (tenant, key, visit) => readFigures({ tenant, key, visit }),
    results: async ({ projectId, key }, keys) => (await room.resultRows({ projectId, key }, keys)).map(parseResult),
  };
}

type FiguresRead = {
  readonly tenant: Tenant;
  readonly key: StoredRun['key'];
  readonly visit: Parameters<ExperimentStore['figures']>[2];
};

// A result may have hundreds of scores, which are parsed in one turn of the event loop.
const FIGURES_AT_ONCE = 25;

export function parseResult({ evaluations, ...result }: ResultRow): ExperimentResult {
  return { ...result, evaluations: JSON.parse(evaluations) };
}

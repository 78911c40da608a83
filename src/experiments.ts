/** Wires datasets and experiments. */

import { DatasetService } from '../gen/spandrel/v1/datasets_pb.js';
import { ExperimentService } from '../gen/spandrel/v1/experiments_pb.js';
import type { RandomBytes } from './domain/clock.ts';
import type { CursorCodec } from './domain/cursor.ts';
import { createDatasets } from './domain/datasets/datasets.ts';
import type { Pauses } from './domain/datasets/entries.ts';
import { createRunComparisons } from './domain/experiments/comparison.ts';
import { createExperiments } from './domain/experiments/experiments.ts';
import { createExperimentRuns } from './domain/experiments/runs.ts';
import type { Store } from './domain/store.ts';
import type { TraceSearches } from './domain/traces/search/trace-search.ts';
import { createDatasetRpc } from './rpc/datasets/datasets.ts';
import { createExperimentRpc } from './rpc/experiments/experiments.ts';
import type { Method } from './rpc/method.ts';
import { compileService, type Sizes } from './rpc/registry.ts';

type ExperimentServiceDeps = Pauses & {
  readonly store: Pick<Store, 'datasets' | 'experiments'>;
  readonly random: RandomBytes;
  readonly searches: TraceSearches;
  readonly cursors: CursorCodec;
};

export function compileExperiments(
  { store: { datasets: store, experiments }, random, searches, cursors, ...pauses }: ExperimentServiceDeps,
  sizes: Sizes,
): Method[] {
  const datasets = createDatasets({ store, random, searches, ...pauses });
  return [
    ...compileService(DatasetService, createDatasetRpc({ datasets, searches }), sizes),
    ...compileService(
      ExperimentService,
      createExperimentRpc({
        experiments: createExperiments({ store: experiments, random }),
        comparisons: createRunComparisons({ store: experiments, cursors }),
        runs: createExperimentRuns({ store: experiments, datasets, random, cursors }),
      }),
      sizes,
    ),
  ];
}

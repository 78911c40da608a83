import { defineEntity } from '@mikro-orm/core';
import type { ResultEvaluation, ScoreFigures } from '../../domain/experiments/experiment.ts';
import { bigInteger, id, instant, integer, json, parsed, real, slugged, table, text, times } from './kinds.ts';

export const ExperimentRow = defineEntity(slugged('Experiment', 'experiments', {}));

/** Runs of an experiment. A deleted run stays, hidden, until its results are removed. */
export const ExperimentRunRow = defineEntity({
  name: 'ExperimentRun',
  tableName: 'experiment_runs',
  properties: {
    projectId: id().primary(),
    // Tells it apart from a hidden run with the same id.
    key: id().primary(),
    experimentId: id(),
    id: id(),
    name: text(),
    datasetId: id().strictNullable(),
    datasetVersion: integer().strictNullable(),
    targetsJson: json('targets'),
    evaluatorsJson: json('evaluators'),
    total: integer().strictNullable(),
    progress: integer().strictNullable(),
    resultCount: integer(),
    totalBytes: bigInteger(),
    ...times(),
    finishedAtMs: instant('finished_at').strictNullable(),
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [
    {
      name: 'experiment_runs_by_live_id',
      properties: ['projectId', 'experimentId', 'id'],
      where: 'deleted_at is null',
    },
  ],
  indexes: [
    { name: 'experiment_runs_by_creation', properties: ['projectId', 'experimentId', 'createdAtMs', 'id'] },
    { name: 'experiment_runs_hidden', properties: ['projectId'], where: 'deleted_at is not null' },
  ],
});

/** The result of an entry in a run. */
export const ExperimentResultRow = table('ExperimentResult', 'experiment_results', {
  projectId: id().primary(),
  runKey: id().primary(),
  entryIndex: integer().primary(),
  targetId: id().primary(),
  entryId: id().strictNullable(),
  traceId: id().strictNullable(),
  entryJson: json('entry').strictNullable(),
  predictedJson: json('predicted').strictNullable(),
  costUsd: real().strictNullable(),
  durationMs: real().strictNullable(),
  error: text().strictNullable(),
  evaluations: parsed<readonly ResultEvaluation[]>('evaluations'),
  // The scores of the evaluations, so that sums read no texts.
  scores: parsed<readonly ScoreFigures[]>('scores'),
  bytes: integer(),
});

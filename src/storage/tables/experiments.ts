import { defineEntity } from '@mikro-orm/core';
import { id, instant, json, large, real, text, whole } from './kinds.ts';

export const ExperimentRow = defineEntity({
  name: 'Experiment',
  tableName: 'experiments',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    name: text(),
    slug: id(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // What is deleted is kept, while its slug is free again.
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [{ name: 'experiments_by_live_slug', properties: ['projectId', 'slug'], where: 'deleted_at is null' }],
});

/** Runs of an experiment. One that is deleted stays, hidden, until its results are gone. */
export const ExperimentRunRow = defineEntity({
  name: 'ExperimentRun',
  tableName: 'experiment_runs',
  properties: {
    projectId: id().primary(),
    // Tells it from one of the same id that is hidden.
    key: id().primary(),
    experimentId: id(),
    id: id(),
    name: text(),
    datasetId: id().strictNullable(),
    datasetVersion: whole().strictNullable(),
    targetsJson: json('targets'),
    evaluatorsJson: json('evaluators'),
    total: whole().strictNullable(),
    progress: whole().strictNullable(),
    resultCount: whole(),
    totalBytes: large(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
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

/** What came of an entry in a run. */
export const ExperimentResultRow = defineEntity({
  name: 'ExperimentResult',
  tableName: 'experiment_results',
  properties: {
    projectId: id().primary(),
    runKey: id().primary(),
    entryIndex: whole().primary(),
    targetId: id().primary(),
    entryId: id().strictNullable(),
    traceId: id().strictNullable(),
    entryJson: json('entry').strictNullable(),
    predictedJson: json('predicted').strictNullable(),
    costUsd: real().strictNullable(),
    durationMs: real().strictNullable(),
    error: text().strictNullable(),
    evaluationsJson: json('evaluations'),
    // What sums need of the evaluations, so that no text is read for them.
    scoresJson: json('scores'),
    bytes: whole(),
  },
});

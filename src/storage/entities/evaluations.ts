/** The work of evaluations: jobs of monitors, and runs of evaluators. Results are stored with their traces. */

import { defineEntity } from '@mikro-orm/core';
import { bigInteger, flag, id, instant, integer, nanoUsd, packedId, searchRun, table, text } from './kinds.ts';

/**
 * Traces that wait to be evaluated, or are being evaluated. A stored trace has one row for all monitors of its project;
 * a claim replaces it with a row for each monitor that applies.
 */
export const EvaluationJobRow = defineEntity({
  name: 'EvaluationJob',
  tableName: 'evaluation_jobs',
  properties: {
    projectNumber: integer().primary(),
    traceSequence: bigInteger().primary(),
    sourceId: id().primary(),
    traceId: packedId(),
    // When it is due or, while it runs, when its lease ends.
    dueAtMs: instant('due_at'),
    // The instant of the first commit that no run has covered.
    sinceMs: instant('since'),
    // Differs for each claim; 0: the job is not running.
    fence: bigInteger(),
    failures: integer(),
    // Whether a commit brought a span without a parent.
    isRooted: flag(),
    // Like due and since, for commits during the run.
    againDueAtMs: instant('again_due_at').strictNullable(),
    againSinceMs: instant('again_since').strictNullable(),
    // In the row for all monitors: the change number of monitors at the last commit; otherwise 0.
    asOf: bigInteger(),
  },
  indexes: [{ name: 'evaluation_jobs_by_due', properties: ['projectNumber', 'dueAtMs'] }],
});

/** Runs of evaluators over all traces that match a search. */
export const EvaluatorRunRow = defineEntity({
  name: 'EvaluatorRun',
  tableName: 'evaluator_runs',
  properties: {
    ...searchRun(),
    evaluatorId: id(),
    // The cursor of the search; empty at its beginning.
    cursor: text(),
    processed: bigInteger(),
    skipped: bigInteger(),
    failed: bigInteger(),
  },
  indexes: [
    { name: 'evaluator_runs_by_creation', properties: ['projectId', 'createdAtMs'] },
    // For the instant at which a project was last served, ended runs included.
    { name: 'evaluator_runs_by_turn', properties: ['projectId', 'leasedUntilMs'] },
    // For workers, who look for running runs of all projects; there are few at any time.
    { name: 'evaluator_runs_by_lease', properties: ['leasedUntilMs'], where: "status = 'running'" },
  ],
});

/** What the models that judge have cost a project on a day: what is known of ended calls, and the most of others. */
export const JudgeSpendingRow = table('JudgeSpending', 'judge_spending', {
  projectId: id().primary(),
  // Days since 1970 (UTC).
  day: integer().primary(),
  spentNanoUsd: nanoUsd('spent_nano_usd'),
});

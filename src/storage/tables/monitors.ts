/** Monitors, and the jobs that wait for them. */

import { defineEntity } from '@mikro-orm/core';
import type { ExecutionMode } from '../../domain/monitors/monitor.ts';
import { bigInteger, enumText, flag, id, instant, integer, json, packedId, real, slugged, text } from './kinds.ts';

export const MonitorRow = defineEntity({
  name: 'Monitor',
  ...slugged('monitors', {
    evaluatorId: id(),
    checkType: text(),
    enabled: flag(),
    sample: real(),
    preconditionsJson: json('preconditions'),
    mappingsJson: json('mappings'),
    parametersJson: json('parameters'),
    executionMode: enumText<ExecutionMode>(),
    // The change number (MonitorChangeCount) at which it last began to run by itself: it ignores traces stored before.
    runsSince: bigInteger(),
  }),
});

/**
 * Per project with monitors: a number that grows whenever other monitors run by themselves, or on another share of the
 * traces. Caches of monitors are valid for one number.
 */
export const MonitorChangeCount = defineEntity({
  name: 'MonitorChangeCount',
  tableName: 'monitor_changes',
  properties: { projectNumber: integer().primary().autoincrement(false), number: bigInteger() },
});

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

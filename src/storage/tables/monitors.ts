/** Monitors, and the jobs that wait for them. */

import { defineEntity } from '@mikro-orm/core';
import type { ExecutionMode } from '../../domain/monitors/monitor.ts';
import { flag, id, instant, json, large, packedId, real, text, whole, word } from './kinds.ts';

export const MonitorRow = defineEntity({
  name: 'Monitor',
  tableName: 'monitors',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    name: text(),
    slug: id(),
    evaluatorId: id(),
    checkType: text(),
    enabled: flag(),
    sample: real(),
    preconditionsJson: json('preconditions'),
    mappingsJson: json('mappings'),
    parametersJson: json('parameters'),
    executionMode: word<ExecutionMode>(),
    // The change by which it last began to run by itself (MonitorChangeCount): what was stored before it does not see.
    runsSince: large(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // What is deleted is kept, while its slug is free again.
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [{ name: 'monitors_by_live_slug', properties: ['projectId', 'slug'], where: 'deleted_at is null' }],
});

/**
 * Of each project that has had monitors: a number that grows whenever other monitors run by themselves than before, or on
 * another share of the traces. Who stores traces remembers monitors by it.
 */
export const MonitorChangeCount = defineEntity({
  name: 'MonitorChangeCount',
  tableName: 'monitor_changes',
  properties: { projectNumber: whole().primary().autoincrement(false), number: large() },
});

/**
 * Traces that wait to be evaluated, or are. One that is stored has one row, for all monitors of its project; whoever
 * claims it puts a row for each monitor that looks at the trace in its place.
 */
export const EvaluationJobRow = defineEntity({
  name: 'EvaluationJob',
  tableName: 'evaluation_jobs',
  properties: {
    projectNumber: whole().primary(),
    traceSequence: large().primary(),
    sourceId: id().primary(),
    traceId: packedId(),
    // When it is to run or, of one that runs, when its lease ends.
    dueAtMs: instant('due_at'),
    // When the first commit came that no run has seen.
    sinceMs: instant('since'),
    // Another one for each claim; 0: nobody runs it.
    fence: large(),
    failures: whole(),
    // Whether a commit brought a span without a parent.
    isRooted: flag(),
    // As due and since, of commits that came while it ran.
    againDueAtMs: instant('again_due_at').strictNullable(),
    againSinceMs: instant('again_since').strictNullable(),
    // Of the row for all monitors: which change of them the last commit went by; of others 0.
    asOf: large(),
  },
  indexes: [{ name: 'evaluation_jobs_by_due', properties: ['projectNumber', 'dueAtMs'] }],
});

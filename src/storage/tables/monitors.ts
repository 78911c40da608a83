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
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // What is deleted is kept, while its slug is free again.
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [{ name: 'monitors_by_live_slug', properties: ['projectId', 'slug'], where: 'deleted_at is null' }],
});

/** One row: a number that is another one after every change of monitors. Who stores traces remembers monitors by it. */
export const MonitorChangeCount = defineEntity({
  name: 'MonitorChangeCount',
  tableName: 'monitor_changes',
  properties: { id: whole().primary().autoincrement(false), number: large() },
  checks: [{ name: 'monitor_changes_is_one', expression: 'id = 1' }],
});

/** Traces that wait to be evaluated, or are: each once for a monitor or whatever else asks for it. */
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
  },
  indexes: [{ name: 'evaluation_jobs_by_due', properties: ['projectNumber', 'dueAtMs'] }],
});

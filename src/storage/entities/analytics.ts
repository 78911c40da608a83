/** Hourly sums of traces, updated by all changes of traces. */

import { bigInteger, id, integer, table } from './kinds.ts';

/**
 * Sums of the traces of a project that began in `hour` and were received during `receivedHour`: of whole traces, or of
 * their spans by model (see storage/analytics/hour-changes.ts). The hour of receipt distinguishes traces whose term ends
 * within an hour. Each writer has rows of its own, which may be negative: only their sum counts.
 */
export const AnalyticsHour = table('AnalyticsHour', 'analytics_hours', {
  projectNumber: integer().primary(),
  grouping: integer().primary(),
  // Hours are counted from 1970.
  hour: integer().primary(),
  receivedHour: integer().primary(),
  model: id().primary(),
  writer: integer().primary(),
  traces: bigInteger(),
  spans: bigInteger(),
  errors: bigInteger(),
  promptTokens: bigInteger(),
  promptKnown: bigInteger(),
  completionTokens: bigInteger(),
  completionKnown: bigInteger(),
  costUsd: bigInteger(),
  costRestNanoUsd: bigInteger(),
  costKnown: bigInteger(),
});

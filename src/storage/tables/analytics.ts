/** What traces come to by the hour, kept up to date by whatever changes them. */

import { defineEntity } from '@mikro-orm/core';
import { id, large, whole } from './kinds.ts';

/**
 * Of the traces of a project that began in an hour and came in during one: whole traces, or their spans by model (see
 * storage/analytics/hour-changes.ts). Those of a term that ends within an hour are told apart by when they came in. Who adds
 * to an hour has rows of its own there, which may well be negative: what counts is their sum.
 */
export const AnalyticsHour = defineEntity({
  name: 'AnalyticsHour',
  tableName: 'analytics_hours',
  properties: {
    projectNumber: whole().primary(),
    grouping: whole().primary(),
    // Hours are counted from 1970.
    hour: whole().primary(),
    receivedHour: whole().primary(),
    model: id().primary(),
    writer: whole().primary(),
    traces: large(),
    spans: large(),
    errors: large(),
    promptTokens: large(),
    promptKnown: large(),
    completionTokens: large(),
    completionKnown: large(),
    costUsd: large(),
    costRestNanoUsd: large(),
    costKnown: large(),
  },
});

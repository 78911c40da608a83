import { defineEntity } from '@mikro-orm/core';
import type { ExecutionMode, Mappings } from '../../domain/monitors/monitor.ts';
import { bigInteger, enumText, flag, id, integer, json, parsed, real, slugged, table, text } from './kinds.ts';

export const MonitorRow = defineEntity(
  slugged('Monitor', 'monitors', {
    evaluatorId: id(),
    checkType: text(),
    enabled: flag(),
    sample: real(),
    preconditionsJson: json('preconditions'),
    mappings: parsed<Mappings>('mappings'),
    parametersJson: json('parameters'),
    executionMode: enumText<ExecutionMode>(),
    // The change number (MonitorChangeCount) at which it last began to run by itself: it ignores traces stored before.
    runsSince: bigInteger(),
  }),
);

/**
 * Per project with monitors: a number that grows whenever other monitors run by themselves, or on another share of the
 * traces. Caches of monitors are valid for one number.
 */
export const MonitorChangeCount = table('MonitorChangeCount', 'monitor_changes', {
  projectNumber: integer().primary().autoincrement(false),
  number: bigInteger(),
});

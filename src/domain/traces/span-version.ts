/** Appends that are made of a stored span, which may have changed since it was read. */

import type { TelemetryTables } from '../events/append-tables.ts';
import type { TraceAppend, TraceAppended, TraceHead } from './trace.ts';

export const OUTDATED: TraceAppended = { metadataNotes: [], isOutdated: true };

/** Whether the append is made of a span that has changed, or is gone. `record` is its trace. */
export function isOutdated(
  tables: Pick<TelemetryTables, 'versionOf'>,
  { projectNumber, madeOf }: TraceAppend,
  record: TraceHead | undefined,
): boolean {
  if (madeOf === undefined) return false;
  if (record === undefined || record.sequence !== madeOf.sequence) return true;
  return tables.versionOf({ ...record, projectNumber }, madeOf.spanId) !== madeOf.version;
}

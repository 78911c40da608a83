/** The outcome of a request of our own gateway, with its span, and how both are applied in one transaction. */

import type { AppendTables } from '../events/append-tables.ts';
import { applyRequests } from '../events/report-append.ts';
import type { RequestReport, RequestsReported } from '../events/request-report.ts';
import type { TraceAppend } from '../traces/trace.ts';
import { applyAppend } from '../traces/trace-append.ts';

export type GatewayOutcome = {
  readonly kind: 'outcome';
  readonly report: RequestReport;
  /** The span of the request; null: it has none. */
  readonly trace: TraceAppend | null;
};

/** The report goes first: the span then finds the outcome of its request. */
export function applyOutcome(tables: AppendTables, { report, trace }: GatewayOutcome): RequestsReported {
  const reported = applyRequests(tables, report);
  if (reported.kind === 'reported' && trace !== null) applyAppend(tables, trace);
  return reported;
}

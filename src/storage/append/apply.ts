/** Everything that adds to the logs of organizations goes through one queue; here it is sorted out again. */

import type { AppendTables } from '../../domain/append-tables.ts';
import { applyJobEnd } from '../../domain/evaluations/job-end.ts';
import type { JobEnd } from '../../domain/evaluations/jobs.ts';
import type { Repriced, Repricing } from '../../domain/pricing/repricing.ts';
import { applyRepricing } from '../../domain/pricing/repricing-append.ts';
import { applyGovernance, applyRequests, applySettlement } from '../../domain/report-append.ts';
import type {
  GovernanceReport,
  GovernanceResult,
  RequestReport,
  RequestsReported,
  Settled,
  Settlement,
} from '../../domain/request-report.ts';
import type { TraceAppend, TraceAppended, TraceBatch } from '../../domain/trace.ts';
import { applyAppend } from '../../domain/trace-append.ts';

/**
 * What a gateway reports, what nobody reported in time, what came of evaluations, traces that came together, and new
 * prices.
 */
export type Report = RequestReport | GovernanceReport | Settlement | JobEnd | TraceBatch | Repricing;

/** What the queue takes; only single traces have no kind. */
export type Append = TraceAppend | Report;

/** By what was reported. */
export type Reported = {
  readonly requests: RequestsReported;
  readonly governance: readonly GovernanceResult[];
  readonly settlement: Settled;
  readonly traces: readonly TraceAppended[];
  readonly repricing: Repriced;
  readonly evaluation: 'recorded' | 'stale';
};

/**
 * What became of an append: null for a trace of which all is said with that it is stored; what became of a report; or
 * why it failed.
 */
export type AppendOutcome = null | TraceAppended | { readonly reported: Reported[keyof Reported] } | Error;

/** What is said of a trace with that it is stored. */
export const NOTHING_TO_TELL: TraceAppended = { metadataNotes: [] };

export function isReport(append: Append): append is Report {
  return 'kind' in append;
}

/** The traces that an append brings. */
export function tracesOf(append: Append): readonly TraceAppend[] {
  if (!isReport(append)) return [append];
  return append.kind === 'traces' ? append.appends : [];
}

export function apply(tables: AppendTables, append: Append): AppendOutcome {
  if (isReport(append)) return { reported: applyReport(tables, append) };
  return applyAppend(tables, append);
}

function applyReport(tables: AppendTables, report: Report): Reported[keyof Reported] {
  switch (report.kind) {
    case 'requests':
      return applyRequests(tables, report);
    case 'governance':
      return applyGovernance(tables, report);
    case 'settlement':
      return applySettlement(tables, report);
    case 'repricing':
      return applyRepricing(tables, report);
    case 'evaluation':
      return applyJobEnd(tables, report);
    case 'traces':
      return report.appends.map((append) => applyAppend(tables, append) ?? NOTHING_TO_TELL);
  }
}

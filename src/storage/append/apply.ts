/** Applies appends of every kind to the tables of a batch. */

import { applyJobEnd } from '../../domain/evaluations/job-end.ts';
import type { JobEnd } from '../../domain/evaluations/jobs.ts';
import type { AppendTables } from '../../domain/events/append-tables.ts';
import { applyGovernance, applyRenewal, applyRequests, applySettlement } from '../../domain/events/report-append.ts';
import { isOwnRequestId } from '../../domain/events/request-event.ts';
import type {
  GovernanceReport,
  RequestRenewal,
  RequestReport,
  Settlement,
} from '../../domain/events/request-report.ts';
import { type Admission, applyAdmission } from '../../domain/gateway/admission.ts';
import { applyOutcome, type GatewayOutcome } from '../../domain/gateway/gateway-outcome.ts';
import { applyMeasuring, type Measuring } from '../../domain/pricing/measuring.ts';
import { applyRepricing, type Repricing, type RequestMending } from '../../domain/pricing/repricing.ts';
import { mendCalls } from '../../domain/traces/call-settlement.ts';
import { namesRequest } from '../../domain/traces/request-ids.ts';
import type { TraceAppend, TraceAppended } from '../../domain/traces/trace.ts';
import { applyAppend } from '../../domain/traces/trace-append.ts';
import type { HourRow } from '../analytics/hour-changes.ts';
import { type BatchLogDeps, createBatchLog, type WrittenLog } from './batch-log.ts';
import { createBatchTelemetry, type WrittenTelemetry } from './batch-telemetry.ts';
import type { BatchTracesDeps } from './batch-traces.ts';
import { createLoadMeter } from './load-meter.ts';

/**
 * Every append but a trace: admissions and outcomes of our gateway, reports of gateways, settlements, results of
 * evaluations, new prices of spans and requests, and measurements.
 */
export type Report =
  | Admission
  | GatewayOutcome
  | RequestReport
  | RequestRenewal
  | GovernanceReport
  | Settlement
  | JobEnd
  | Repricing
  | RequestMending
  | Measuring;

/** An entry of the commit queue. Traces have no `kind`. */
export type Append = TraceAppend | Report;

/** The answer to each kind of report. */
export type Reported = {
  readonly admission: ReturnType<typeof applyAdmission>;
  readonly outcome: ReturnType<typeof applyOutcome>;
  readonly requests: ReturnType<typeof applyRequests>;
  readonly renewal: ReturnType<typeof applyRenewal>;
  readonly governance: ReturnType<typeof applyGovernance>;
  readonly settlement: ReturnType<typeof applySettlement>;
  readonly repricing: ReturnType<typeof applyRepricing>;
  readonly mending: ReturnType<typeof mendCalls>;
  readonly measuring: ReturnType<typeof applyMeasuring>;
  readonly evaluation: ReturnType<typeof applyJobEnd>;
};

/**
 * The outcome of an append: null for a trace that was stored without notes, the answer to a report, or why it failed.
 */
export type AppendOutcome = null | TraceAppended | { readonly reported: Reported[keyof Reported] } | Error;

/** The answer for a trace that was stored without notes. */
export const WITHOUT_NOTES: TraceAppended = { metadataNotes: [] };

export function isReport(append: Append): append is Report {
  return 'kind' in append;
}

/** The trace in an append, if any: that of an outcome is its span. */
export function tracesOf(append: Append): readonly TraceAppend[] {
  if (!isReport(append)) return [append];
  return append.kind === 'outcome' && append.trace !== null ? [append.trace] : [];
}

export type Applied = {
  /** Of the first appends: a batch that has loaded or replaced much ends early, and the others belong to the next one. */
  readonly outcomes: AppendOutcome[];
  readonly telemetry: WrittenTelemetry & { readonly hours: readonly HourRow[] };
  readonly log: WrittenLog;
};

/** Applies a batch to its tables. The hours are counted before anything is written: they need the replaced spans as they were. */
export function applyBatch(
  deps: Omit<BatchLogDeps & BatchTracesDeps, 'noteReplaced'>,
  appends: readonly Append[],
): Applied {
  const { read, noteReplaced, isSpent } = createLoadMeter(deps.read);
  const telemetry = createBatchTelemetry({ ...deps, read, noteReplaced });
  const log = createBatchLog({ ...deps, read, noteReplaced }, telemetry.isNewTrace);
  const tables: AppendTables = {
    ...telemetry.tables,
    ...log.tables,
    eraseTrace(traceKey) {
      telemetry.erase(traceKey);
      log.erase(traceKey);
    },
  };
  const outcomes: AppendOutcome[] = [];
  for (const append of appends) {
    outcomes.push(isReport(append) ? { reported: applyReport(tables, append) } : applyAppend(tables, append));
    if (isSpent()) break;
  }
  return { outcomes, telemetry: { ...telemetry.written, hours: telemetry.countHours() }, log: log.written };
}

function applyReport(tables: AppendTables, report: Report): Reported[keyof Reported] {
  switch (report.kind) {
    case 'admission':
      return applyAdmission(tables, report);
    case 'outcome':
      return applyOutcome(tables, report);
    case 'requests':
      return applyRequests(tables, report);
    case 'renewal':
      return applyRenewal(tables, report);
    case 'governance':
      return applyGovernance(tables, report);
    case 'settlement':
      return applySettlement(tables, report);
    case 'repricing':
      return applyRepricing(tables, report);
    case 'mending':
      return mendCalls(tables, report);
    case 'measuring':
      return applyMeasuring(tables, report);
    case 'evaluation':
      return applyJobEnd(tables, report);
  }
}

/** Whether a span may join a request of our gateway, which stores nothing that could conflict. */
function joins({ requests, spans }: TraceAppend): boolean {
  // Of a project that emits no events the spans alone tell.
  if (requests.length === 0) return spans.some(namesRequest);
  return requests.some(({ gatewayRequestId }) => isOwnRequestId(gatewayRequestId));
}

// Re-sent and continued traces come in clusters: after one, the next batches read first.
const CAUTIOUS_BATCHES = 32;

/**
 * Assumes that a batch holds only new rows. That is nearly always right and saves all reads; when it is wrong, the
 * database refuses the batch.
 */
export function createInsertOnlyHeuristic() {
  let cautiousBatches = 0;
  return {
    /** Whether to write a batch without reading first. */
    expectsInsertsOnly(appends: readonly Append[]): boolean {
      const isCautious = cautiousBatches > 0;
      if (isCautious) cautiousBatches -= 1;
      // Reports of gateways are mostly about requests that exist, and appends made of a span are about that.
      return (
        !isCautious && appends.every((append) => !isReport(append) && append.madeOf === undefined && !joins(append))
      );
    },
    /** Call when the database refused such a batch. */
    recordConflict(): void {
      cautiousBatches = CAUTIOUS_BATCHES;
    },
  };
}

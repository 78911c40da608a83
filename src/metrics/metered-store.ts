/** Wraps a store to count its operations and their results, without changes to the rules or the drivers. */

import type { DeliveryMeter } from '../delivery/meter.ts';
import type { DeliveryStore, WebhookLog, WorkItem, WorkOutcome } from '../domain/delivery/webhook-store.ts';
import type { RequestStore } from '../domain/events/log-port.ts';
import type { RequestMeter } from '../domain/events/request-meter.ts';
import type {
  GovernanceReport,
  GovernanceResult,
  RequestReport,
  RequestsReported,
} from '../domain/events/request-report.ts';
import type { ManagementStore } from '../domain/management/management.ts';
import type { RetentionTask } from '../domain/retention-walk.ts';
import type { Store } from '../domain/store.ts';
import type { LogRecordStore } from '../domain/traces/logs/log-record-store.ts';
import type { TraceStore } from '../domain/traces/telemetry-port.ts';
import type { TraceAppend, TraceAppended } from '../domain/traces/trace.ts';

type MeteredStoreDeps = {
  readonly requests: RequestMeter;
  readonly deliveries: DeliveryMeter;
  readonly monotonicMs: () => number;
};

type Deps = { readonly meter: RequestMeter; readonly monotonicMs: () => number };

export function meterStore(store: Store, { requests: meter, deliveries, monotonicMs }: MeteredStoreDeps): Store {
  return {
    ...store,
    traces: meterTraces(store.traces, { meter, monotonicMs }),
    requests: meterRequests(store.requests, { meter, monotonicMs }),
    management: meterManagement(store.management, meter),
    logRetention: { begin: (cuts) => meterTasks(store.logRetention.begin(cuts), meter) },
    telemetryRetention: {
      ...store.telemetryRetention,
      begin: (cuts) => meterTasks(store.telemetryRetention.begin(cuts), meter),
    },
    logRecords: meterLogRecords(store.logRecords, meter),
    webhookLog: meterTests(store.webhookLog, deliveries),
    deliveries: meterDeliveries(store.deliveries, deliveries),
  };
}

function meterTraces(traces: TraceStore, deps: Deps): TraceStore {
  return {
    ...traces,
    async append(append) {
      const appended = await measure(deps, () => traces.append(append));
      if (append.requests.length > 0 && appended.isOutdated === undefined) countSpans(deps.meter, append, appended);
      return appended;
    },
  };
}

function meterRequests(requests: RequestStore, deps: Deps): RequestStore {
  const { meter } = deps;
  return {
    ...requests,
    admit: (admission) => measure(deps, () => requests.admit(admission)),
    async conclude(outcome) {
      const reported = await measure(deps, () => requests.conclude(outcome));
      countRecords(meter, outcome.report, reported);
      return reported;
    },
    async report(report) {
      const reported = await measure(deps, () => requests.report(report));
      countRecords(meter, report, reported);
      return reported;
    },
    async reportGovernance(report) {
      const results = await measure(deps, () => requests.reportGovernance(report));
      countGovernance(meter, report, results);
      return results;
    },
    async settle(settlement) {
      const settled = await requests.settle(settlement);
      meter.settled(settled.count);
      meter.appended('gateway.request.settled', settled.count);
      return settled;
    },
  };
}

/** Changes of virtual keys append events too. */
function meterManagement(management: ManagementStore, meter: RequestMeter): ManagementStore {
  return {
    ...management,
    async commit(change) {
      const outcome = await management.commit(change);
      if (outcome === 'stored') for (const { type } of change.events ?? []) meter.appended(type, 1);
      return outcome;
    },
  };
}

function meterTasks(tasks: readonly RetentionTask[], meter: RequestMeter): readonly RetentionTask[] {
  return tasks.map((task) => async (rowsMax) => {
    const outcome = await task(rowsMax);
    if (typeof outcome.end === 'string') return outcome;
    const { removed = {}, next } = outcome.end;
    meter.retentionDeleted(removed.events ?? 0);
    meter.retentionErased(removed.traces ?? 0);
    meter.logRecordsDropped('age', removed.logRecords ?? 0);
    return { ...outcome, end: { removed, next: meterTasks(next, meter) } };
  });
}

function meterLogRecords(records: LogRecordStore, meter: RequestMeter): LogRecordStore {
  return {
    ...records,
    async keep(keeping) {
      const kept = await records.keep(keeping);
      meter.logRecordsDropped('room', kept.dropped);
      return kept;
    },
  };
}

async function measure<T>({ meter, monotonicMs }: Deps, append: () => Promise<T>): Promise<T> {
  const startedAtMs = monotonicMs();
  const answer = await append();
  meter.observeAppend((monotonicMs() - startedAtMs) / 1000);
  return answer;
}

function countSpans(meter: RequestMeter, { requests, spans }: TraceAppend, { requestResults }: TraceAppended): void {
  for (const [index, { spanIndex }] of requests.entries()) {
    const result = requestResults === undefined ? 'emitted' : requestResults[index];
    // A span that a later span of the same append replaces is not counted.
    if (result === undefined || result === null) continue;
    const status = (spans[spanIndex]?.errorJson ?? null) === null ? 'success' : 'error';
    meter.reported({ source: 'span', status, result });
    if (result === 'emitted') meter.appended('gateway.request.completed', 1);
  }
}

function countRecords(meter: RequestMeter, { records }: RequestReport, reported: RequestsReported): void {
  if (reported.kind !== 'reported') return;
  for (const [index, result] of reported.results.entries()) {
    const status = records[index]?.status;
    if (status === undefined) continue;
    meter.reported({ source: 'report', status, result });
    if (result === 'emitted') meter.appended('gateway.request.completed', 1);
  }
}

function countGovernance(
  meter: RequestMeter,
  { events }: GovernanceReport,
  results: readonly GovernanceResult[],
): void {
  for (const [index, result] of results.entries()) {
    const type = events[index]?.type;
    if (result === 'emitted' && type !== undefined) meter.appended(type, 1);
  }
}

type Advance = Extract<WorkItem, { kind: 'advance' }>;

function meterDeliveries(deliveries: DeliveryStore, meter: DeliveryMeter): DeliveryStore {
  return {
    ...deliveries,
    async apply(work, at) {
      const outcomes = await deliveries.apply(work, at);
      for (const [index, outcome] of outcomes.entries()) {
        const piece = work[index];
        if (piece !== undefined) count(meter, piece, outcome);
      }
      return outcomes;
    },
    async maintain(request) {
      const maintained = await deliveries.maintain(request);
      meter.dead('expired', maintained.expired);
      return maintained;
    },
  };
}

function meterTests(log: WebhookLog, meter: DeliveryMeter): WebhookLog {
  return {
    ...log,
    endTest(test, verdict, nowMs) {
      meter.test(`${verdict.kind === 'success'}`);
      return log.endTest(test, verdict, nowMs);
    },
  };
}

function count(meter: DeliveryMeter, work: WorkItem, outcome: WorkOutcome): void {
  if (work.kind === 'advance' && outcome.kind === 'claimed') countAdvance(meter, work);
  else if (work.kind === 'claim' && outcome.kind === 'refused' && outcome.reason === 'expired') meter.dead('expired');
  else if (work.kind === 'lose' && outcome.kind === 'recorded' && outcome.deadReason !== null)
    meter.dead(outcome.deadReason);
}

function countAdvance(meter: DeliveryMeter, { source, batches }: Advance): void {
  for (const { disposition, eventIds } of batches) {
    if (source.kind === 'replay') meter.replayEnqueued(eventIds.length);
    if (disposition === 'too_large') meter.dead('too_large');
  }
}

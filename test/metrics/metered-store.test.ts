import { expect, it } from 'vitest';
import type { DeliveryMeter } from '../../src/delivery/meter.ts';
import type { WorkItem, WorkOutcome } from '../../src/domain/delivery/webhook-store.ts';
import type { RequestMeter } from '../../src/domain/events/request-meter.ts';
import type { RequestResult } from '../../src/domain/events/request-report.ts';
import type { Store } from '../../src/domain/store.ts';
import { createDeliveryMeter } from '../../src/metrics/delivery-meter.ts';
import { meterStore } from '../../src/metrics/metered-store.ts';
import { createRegistry } from '../../src/metrics/registry.ts';
import { createRequestMeter } from '../../src/metrics/request-meter.ts';
import { finish, NO_LOG_CUTS, NO_TELEMETRY_CUTS } from '../storage/conformance/retention-walk.ts';
import { bareSpan, sampleAppend, sampleRequest } from '../storage/conformance/samples.ts';

/** Returns the given answers; it has only the methods that a test needs. */
function createFixture(parts: object) {
  const registry = createRegistry();
  const requests: RequestMeter = createRequestMeter(registry);
  const deliveries: DeliveryMeter = createDeliveryMeter(registry);
  let nowMs = 0;
  const monotonicMs = () => {
    nowMs += 20;
    return nowMs;
  };
  const store = meterStore(parts as Store, { requests, deliveries, monotonicMs });
  const samplesOf = async (start: string) =>
    (await registry.text()).split('\n').filter((line) => line.startsWith(start));
  return { store, deliveries, samplesOf };
}

const answered = (requestResults?: readonly (RequestResult | null)[]) => ({
  traces: { append: async () => ({ metadataNotes: [], ...(requestResults && { requestResults }) }) },
});

const failed = { ...bareSpan(), errorJson: '{"message":"no","stacktrace":[]}' };
const threeSpans = sampleAppend({
  spans: [bareSpan(), failed, bareSpan()],
  requests: [0, 1, 2].map((spanIndex) => ({ ...sampleRequest(), spanIndex })),
});

it('counts the requests of an append, each emitted unless it is said otherwise', async () => {
  const { store, samplesOf } = createFixture(answered());
  await store.traces.append(threeSpans);
  expect(await samplesOf('spandrel_requests_total')).toEqual([
    'spandrel_requests_total{source="span",status="success",result="emitted"} 2',
    'spandrel_requests_total{source="span",status="error",result="emitted"} 1',
  ]);
  expect(await samplesOf('spandrel_events_appended_total{type="gateway.request.completed"}')).toEqual([
    'spandrel_events_appended_total{type="gateway.request.completed"} 3',
  ]);
  expect(await samplesOf('spandrel_events_append_seconds_sum')).toEqual(['spandrel_events_append_seconds_sum 0.02']);
});

it('counts repeats as duplicates, and does not count what was not stored', async () => {
  const { store, samplesOf } = createFixture(answered(['duplicate', 'superseded', null]));
  await store.traces.append(threeSpans);
  expect(await samplesOf('spandrel_requests_total')).toEqual([
    'spandrel_requests_total{source="span",status="success",result="duplicate"} 1',
    'spandrel_requests_total{source="span",status="error",result="superseded"} 1',
  ]);
  expect(await samplesOf('spandrel_events_appended_total{type="gateway.request.completed"}')).toEqual([
    'spandrel_events_appended_total{type="gateway.request.completed"} 0',
  ]);
});

it('counts reports, what came of each record, and settlements', async () => {
  const requests = {
    report: async () => ({ kind: 'reported', results: ['stored', 'emitted', 'rejected'] }),
    reportGovernance: async () => ['emitted', 'duplicate'],
    settle: async () => ({ count: 7, hasMore: false }),
  };
  const { store, samplesOf } = createFixture({ requests });
  const records = ['admitted', 'success', 'error'].map((status) => ({ status }));
  await store.requests.report({ kind: 'requests', records } as never);
  const events = [{ type: 'gateway.budget.breached' }, { type: 'gateway.budget.breached' }];
  await store.requests.reportGovernance({ kind: 'governance', events } as never);
  await store.requests.settle({ kind: 'settlement', admittedByMs: 0, countMax: 9 });
  expect(await samplesOf('spandrel_requests_total')).toEqual([
    'spandrel_requests_total{source="report",status="admitted",result="stored"} 1',
    'spandrel_requests_total{source="report",status="success",result="emitted"} 1',
    'spandrel_requests_total{source="report",status="error",result="rejected"} 1',
  ]);
  const appended = (await samplesOf('spandrel_events_appended_total')).filter((line) => !line.endsWith(' 0'));
  expect(appended).toEqual([
    'spandrel_events_appended_total{type="gateway.request.completed"} 1',
    'spandrel_events_appended_total{type="gateway.request.settled"} 7',
    'spandrel_events_appended_total{type="gateway.budget.breached"} 1',
  ]);
  expect(await samplesOf('spandrel_settlement_total')).toEqual(['spandrel_settlement_total 7']);
});

it('counts nothing of a report that is not stored, or of an append that fails', async () => {
  const { store, samplesOf } = createFixture({
    requests: { report: async () => ({ kind: 'unpriced', records: [] }) },
    traces: { append: () => Promise.reject(new Error('full')) },
  });
  await store.requests.report({ kind: 'requests', records: [{ status: 'success' }] } as never);
  await expect(store.traces.append(threeSpans)).rejects.toThrow('full');
  expect(await samplesOf('spandrel_requests_total')).toEqual([]);
});

it('counts what retention removed, step by step', async () => {
  const times = { heldMs: 0, removingMs: 0 };
  const last = async () => ({ ...times, end: { removed: { events: 4 }, next: [] } });
  const first = async () => ({ ...times, end: { removed: { events: 4, traces: 1 }, next: [last] } });
  const begin = () => [first];
  const { store, samplesOf } = createFixture({ logRetention: { begin }, telemetryRetention: { begin } });
  await finish(store.logRetention.begin(NO_LOG_CUTS));
  expect(await samplesOf('spandrel_events_retention')).toEqual(['spandrel_events_retention_deleted_total 8']);
  await finish(store.telemetryRetention.begin(NO_TELEMETRY_CUTS));
  expect(await samplesOf('spandrel_traces_retention')).toEqual(['spandrel_traces_retention_erased_total 2']);
});

it('counts events of replays, and deliveries that die without an attempt', async () => {
  const batches = [
    { disposition: 'too_large', eventIds: ['a'] },
    { disposition: 'send', eventIds: ['b', 'c'] },
  ];
  const work = [
    { kind: 'advance', source: { kind: 'replay', number: 1 }, batches },
    { kind: 'advance', source: { kind: 'replay', number: 1 }, batches },
    { kind: 'claim' },
    { kind: 'lose' },
    { kind: 'finish' },
  ] as unknown as WorkItem[];
  const outcomes = [
    { kind: 'claimed' },
    { kind: 'refused', reason: 'full' },
    { kind: 'refused', reason: 'expired' },
    { kind: 'recorded', deadReason: 'exhausted' },
    { kind: 'recorded', deadReason: 'exhausted' },
  ] as WorkOutcome[];
  const { store, samplesOf } = createFixture({ deliveries: { apply: async () => outcomes } });
  expect(await store.deliveries.apply(work, { nowMs: 0, attemptsPerHourMax: null })).toBe(outcomes);
  expect(await samplesOf('spandrel_webhook_replay')).toEqual(['spandrel_webhook_replay_enqueued_total 3']);
  expect(await samplesOf('spandrel_webhook_dead_total')).toEqual([
    'spandrel_webhook_dead_total{reason="exhausted"} 1',
    'spandrel_webhook_dead_total{reason="receiver_gone"} 0',
    'spandrel_webhook_dead_total{reason="too_large"} 1',
    'spandrel_webhook_dead_total{reason="expired"} 1',
  ]);
});

it('counts deliveries that expired while they waited', async () => {
  const maintain = async () => ({ more: false, disabled: [], expired: 3 });
  const { store, samplesOf } = createFixture({ deliveries: { maintain } });
  await store.deliveries.maintain({ nowMs: 0, endedBeforeMs: 0, eventsBeforeMs: 0, rowsMax: 9 });
  expect(await samplesOf('spandrel_webhook_dead_total{reason="expired"}')).toEqual([
    'spandrel_webhook_dead_total{reason="expired"} 3',
  ]);
});

it('counts tests and attempts', async () => {
  const { store, deliveries, samplesOf } = createFixture({ webhookLog: { endTest: async () => undefined } });
  await store.webhookLog.endTest({} as never, { kind: 'success' } as never, 0);
  await store.webhookLog.endTest({} as never, { kind: 'failure' } as never, 0);
  expect(await samplesOf('spandrel_webhook_tests')).toEqual([
    'spandrel_webhook_tests_total{delivered="true"} 1',
    'spandrel_webhook_tests_total{delivered="false"} 1',
  ]);
  deliveries.attempt({ kind: 'http', outcome: 'retryable', reason: '5xx', seconds: 0.2 });
  expect(await samplesOf('spandrel_webhook_attempts_total')).toEqual([
    'spandrel_webhook_attempts_total{kind="http",outcome="retryable",reason="5xx"} 1',
  ]);
  expect(await samplesOf('spandrel_webhook_attempt_seconds_sum')).toEqual([
    'spandrel_webhook_attempt_seconds_sum{kind="http"} 0.2',
  ]);
});

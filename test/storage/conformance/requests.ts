import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventRange } from '../../../src/domain/events/event.ts';
import type { RequestContent } from '../../../src/domain/events/request-content.ts';
import { type EventKind, type EventName, eventIdOf, requestKeys } from '../../../src/domain/events/request-event.ts';
import type { ReportedRequest } from '../../../src/domain/events/request-report.ts';
import { nextRequestState, type RequestSignal, type RequestState } from '../../../src/domain/events/request-state.ts';
import type { Store } from '../../../src/domain/store.ts';
import { runsOf } from '../../support/scenario.ts';
import { BARE_CONTENT, recordOf, reportOf } from './reports.ts';
import { ORGANIZATION, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleRequest, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const OTHER_PROJECT = { projectId: 'project_2', projectNumber: 2 } as const;
const USAGE = {
  inputTokens: 100,
  outputTokens: 150,
  cacheReadInputTokens: 1,
  cacheCreationInputTokens: 2,
  reasoningTokens: 3,
} as const;
const EVERYTHING: EventRange = {
  organization: ORGANIZATION,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  type: null,
  after: null,
  limit: 10_000,
};
const ADMITTED: RequestContent = {
  ...BARE_CONTENT,
  occurredAtMs: RECEIVED_AT_MS - 5000,
  virtualKeyId: 'vk_1',
  principalUserId: 'principal',
  endUserId: 'end user',
  traceId: 'trace',
  model: 'gpt-5',
  modelProviderId: 'provider',
  requestType: 'chat',
  labelsJson: '["a","\\u0000"]',
  metadataJson: '{"n":12345678901234567890}',
};

function spanOf(status: 'success' | 'error', gatewayRequestId = 'gw-1') {
  const spans = [sampleSpan({ errorJson: status === 'error' ? '{"has_error":true}' : null })];
  const requests = [sampleRequest({ gatewayRequestId, errorClass: status === 'error' ? 'E' : null })];
  return sampleAppend({ spans, requests, metadataJson: null });
}

const overdueBy = (admittedByMs: number, countMax = 500) => ({ kind: 'settlement', admittedByMs, countMax }) as const;
const OVERDUE = overdueBy(RECEIVED_AT_MS);

/** The data of all events, newest first. */
async function readData(store: Store): Promise<readonly { readonly [name: string]: unknown }[]> {
  const log = await store.events.list(EVERYTHING);
  return log.map(({ envelope }) => JSON.parse(envelope).data);
}

async function readIds(store: Store): Promise<readonly string[]> {
  return (await store.events.list(EVERYTHING)).map(({ id }) => id).toSorted();
}

/** The name of an event in these tests: they correct an outcome once. */
function nameOf(kind: EventKind): EventName {
  return kind === 'correction' ? { kind, number: 1 } : { kind };
}

/** Reports a request as one kind of producer. */
type SendSignal = (store: Store, gatewayRequestId: string) => Promise<unknown>;

const report =
  (status: ReportedRequest['status']): SendSignal =>
  ({ requests }, gatewayRequestId) =>
    requests.report(reportOf([recordOf(status, { gatewayRequestId })]));
const span =
  (status: 'success' | 'error'): SendSignal =>
  ({ traces }, gatewayRequestId) =>
    traces.append(spanOf(status, gatewayRequestId));

const SIGNALS: readonly (readonly [RequestSignal, SendSignal])[] = [
  [{ status: 'admitted' }, report('admitted')],
  [{ status: 'success', source: 'report' }, report('success')],
  [{ status: 'error', source: 'report' }, report('error')],
  [{ status: 'success', source: 'span' }, span('success')],
  [{ status: 'error', source: 'span' }, span('error')],
  [{ status: 'overdue' }, ({ requests }) => requests.settle(OVERDUE)],
];

export function requestStoreConformance(open: OpenSubject): void {
  describe('reported requests', () => {
    it(
      'MUST take each request from state to state as request-state.ts says, in every order and however often',
      withStore(open, async (store) => {
        let number = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(fc.constantFrom(...SIGNALS), { minLength: 1, maxLength: 8 }), async (signals) => {
            number += 1;
            const gatewayRequestId = `gw-${number}`;
            let state: RequestState = { status: 'none' };
            const expected: string[] = [];
            for (const [signal, send] of signals) {
              const next: ReturnType<typeof nextRequestState> =
                state.status === 'none' && signal.status === 'overdue'
                  ? { state, emits: null, result: 'superseded' }
                  : nextRequestState(state, signal);
              const answer = await send(store, gatewayRequestId);
              if (signal.status === 'admitted' || ('source' in signal && signal.source === 'report')) {
                expect(answer).toEqual({ kind: 'reported', results: [next.result] });
              }
              if (next.emits !== null) expected.push(eventIdOf(gatewayRequestId, nameOf(next.emits)));
              state = next.state;
            }
            const emitted = (await readIds(store)).filter((id) => id.startsWith(`${gatewayRequestId}:`));
            expect(emitted).toEqual(expected.toSorted());
            for (const id of emitted) expect(await store.events.find(ORGANIZATION, id, 0)).toMatchObject({ id });
          }),
          { numRuns: runsOf(60) },
        );
      }),
    );

    it(
      'MUST take each request from state to state, whoever else tells of it meanwhile',
      withStore(open, async (store) => {
        for (let round = 0; round < 10; round += 1) {
          const id = `gw-race-${round}`;
          if (round % 2 === 0) await report('admitted')(store, id);
          await Promise.all([...SIGNALS, ...SIGNALS].map(([, send]) => send(store, id)));
          const emitted = (await readIds(store)).filter((each) => each.startsWith(`${id}:`));
          expect(emitted.filter((each) => each === `${id}:completed`)).toHaveLength(1);
          expect(new Set(emitted).size).toBe(emitted.length);
        }
      }),
    );

    it(
      'has all known content of a request, and its cost',
      withStore(open, async (store) => {
        const cost = { nanoUsd: 3_808_000, rateVersion: null };
        const content = { ...ADMITTED, usage: USAGE, durationMs: 7, error: { class: 'Timeout', httpStatus: 504 } };
        await store.requests.report(reportOf([recordOf('error', { content, cost })]));
        expect(await readData(store)).toEqual([
          {
            event_id: 'gw-1:completed',
            event_type: 'gateway.request.completed',
            gateway_request_id: 'gw-1',
            occurred_at: new Date(RECEIVED_AT_MS - 5000).toISOString(),
            organization_id: ORGANIZATION.id,
            project_id: PROJECT.id,
            virtual_key_id: 'vk_1',
            principal_user_id: 'principal',
            end_user_id: 'end user',
            trace_id: 'trace',
            model: 'gpt-5',
            model_provider_id: 'provider',
            request_type: 'chat',
            usage: {
              input_tokens: 100,
              output_tokens: 150,
              cache_read_input_tokens: 1,
              cache_creation_input_tokens: 2,
              reasoning_tokens: 3,
            },
            cost: { total_usd: '0.003808', nano_usd: 3_808_000, rate_version: null },
            status: 'error',
            needs_reconciliation: null,
            settle_reason: null,
            error: { class: 'Timeout', http_status: 504 },
            duration_ms: 7,
            labels: ['a', '\0'],
            metadata: { n: Number('12345678901234567890') },
          },
        ]);
        const [event] = await store.events.list(EVERYTHING);
        expect(event?.envelope).toContain('"metadata":{"n":12345678901234567890}}}');
      }),
    );

    it(
      'MUST give an outcome what it leaves out from the admission of its request',
      withStore(open, async (store) => {
        const admission = recordOf('admitted', { content: ADMITTED, cost: { nanoUsd: 5, rateVersion: null } });
        const admitted = {
          virtual_key_id: 'vk_1',
          principal_user_id: 'principal',
          end_user_id: 'end user',
          trace_id: 'trace',
          model: 'gpt-5',
          model_provider_id: 'provider',
          request_type: 'chat',
          labels: ['a', '\0'],
        };
        await store.requests.report(reportOf([admission, recordOf('error', { content: { durationMs: 3 } })]));
        expect((await readData(store))[0]).toMatchObject({
          ...admitted,
          cost: { nano_usd: 5 },
          duration_ms: 3,
          occurred_at: new Date(BARE_CONTENT.occurredAtMs).toISOString(),
        });
        // The correction too, which ignores the error; fields of the outcome itself win.
        const correction = recordOf('success', { content: { model: 'gpt-5-mini', labelsJson: '["b"]' } });
        await store.requests.report(reportOf([correction]));
        expect((await readData(store)).find((data) => data.event_id === 'gw-1:completed:2')).toMatchObject({
          ...admitted,
          model: 'gpt-5-mini',
          labels: ['b'],
          duration_ms: null,
          error: null,
          cost: { nano_usd: 5 },
        });
      }),
    );

    it(
      'MUST give a span what it leaves out from the admission of its request, settled or not',
      withStore(open, async (store) => {
        const ids = ['gw-1', 'gw-2'];
        const admit = (gatewayRequestId = '') =>
          store.requests.report(reportOf([recordOf('admitted', { gatewayRequestId, content: ADMITTED })]));
        await admit(ids[0]);
        expect(await store.requests.settle(OVERDUE)).toEqual({ count: 1, hasMore: false });
        await admit(ids[1]);
        for (const id of ids) await store.traces.append(spanOf('success', id));
        const completed = (await readData(store)).filter((data) => data.status === 'success');
        expect(completed).toHaveLength(2);
        for (const data of completed) {
          expect(data).toMatchObject({
            virtual_key_id: 'vk_1',
            principal_user_id: 'principal',
            end_user_id: 'end user',
            model_provider_id: 'provider',
            labels: ['a', '\0'],
            duration_ms: 1500,
          });
          expect(data.trace_id).not.toBe('trace');
        }
      }),
    );

    it(
      'stores nothing of a report whose price was computed from other content than that of the event',
      withStore(open, async (store) => {
        const outcome = recordOf('success', { content: { usage: USAGE } });
        const other = recordOf('success', { gatewayRequestId: 'gw-2' });
        const records = [recordOf('admitted', { content: ADMITTED }), outcome, other];
        const unpriced = { kind: 'unpriced', records: [{ index: 1, model: 'gpt-5', usage: USAGE }] };
        expect(await store.requests.report(reportOf(records))).toEqual(unpriced);
        expect(await readIds(store)).toEqual([]);
        await store.requests.report(reportOf([recordOf('admitted', { content: ADMITTED })]));
        expect(await store.requests.report(reportOf([other, outcome]))).toEqual(unpriced);
        const cost = { nanoUsd: 7, rateVersion: 'registry@2026-07-01' };
        const priced = { ...outcome, price: { model: 'gpt-5', usage: USAGE, cost } };
        const results = ['emitted', 'emitted'];
        expect(await store.requests.report(reportOf([other, priced]))).toEqual({ kind: 'reported', results });
        const data = (await readData(store)).find((each) => each.gateway_request_id === 'gw-1');
        expect(data?.cost).toEqual({ total_usd: '0.000000007', nano_usd: 7, rate_version: 'registry@2026-07-01' });
        // Prices of ended requests stay.
        expect(await store.requests.report(reportOf([outcome]))).toEqual({ kind: 'reported', results: ['duplicate'] });
      }),
    );

    it(
      'MUST store all of a report or nothing, and one that cannot be stored costs nobody else anything',
      withStore(open, async (store) => {
        // No valid date, which fails only when the transaction writes the event.
        const unstorable = recordOf('success', { content: { occurredAtMs: Number.MAX_SAFE_INTEGER } });
        const good = Array.from({ length: 10 }, (_, index) =>
          recordOf('success', { gatewayRequestId: `good-${index}` }),
        );
        const settled = await Promise.allSettled([
          store.requests.report(reportOf([recordOf('success', { gatewayRequestId: 'gw-2' }), unstorable])),
          store.traces.append(sampleAppend({ requests: [sampleRequest({ gatewayRequestId: 'span' })] })),
          store.requests.report(reportOf(good)),
        ]);
        expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
        const expected = ['span', ...good.map((record) => record.gatewayRequestId)].map((id) => `${id}:completed`);
        expect(await readIds(store)).toEqual(expected.toSorted());
      }),
    );

    it(
      'gives two projects with the same request id events with different ids, from admission to correction',
      withStore(open, async (store) => {
        const [first, second] = requestKeys('gw-1', OTHER_PROJECT.projectId);
        const records = (status: ReportedRequest['status']) => [recordOf(status), recordOf(status, OTHER_PROJECT)];
        await store.requests.report(reportOf(records('admitted')));
        expect(await store.requests.settle(OVERDUE)).toEqual({ count: 2, hasMore: false });
        for (const status of ['error', 'success'] as const) {
          for (let round = 0; round < 2; round += 1) await store.requests.report(reportOf(records(status)));
        }
        const kinds = ['settled', 'completed', 'correction'] as const;
        const expected = [first, second].flatMap((key) => kinds.map((kind) => eventIdOf(key, nameOf(kind))));
        expect(await readIds(store)).toEqual(expected.toSorted());
        for (const data of await readData(store)) {
          const isOther = String(data.event_id).startsWith(`${second}:`);
          expect(data).toMatchObject({ gateway_request_id: 'gw-1', project_id: isOther ? 'project_2' : 'project_1' });
          expect(await store.events.find(ORGANIZATION, String(data.event_id), 0)).not.toBeNull();
        }
      }),
    );

    it(
      'never lets `created` decrease, for any producer',
      withStore(open, async (store) => {
        const pending: Promise<unknown>[] = [];
        for (let index = 0; index < 30; index += 1) {
          pending.push(report('admitted')(store, `gw-${index}`), report('success')(store, `gw-${index}`));
          pending.push(span('success')(store, `span-${index}`), store.requests.settle(OVERDUE));
        }
        await Promise.all(pending);
        const before = await store.events.list({ ...EVERYTHING, limit: 1 });
        await report('success')(store, 'last');
        const after = await store.events.list(EVERYTHING);
        expect(after).toHaveLength((await readIds(store)).length);
        const last = after.find(({ id }) => id === 'last:completed');
        expect(last?.createdAtMs).toBeGreaterThanOrEqual(before[0]?.createdAtMs ?? Number.POSITIVE_INFINITY);
      }),
    );
  });

  describe('settlement', () => {
    it(
      'settles what was admitted at or before the instant, the oldest first and so many at a time',
      withStore(open, async (store) => {
        for (const age of [0, 1, 2, 3, 4]) {
          const record = recordOf('admitted', { gatewayRequestId: `gw-${age}`, content: ADMITTED });
          await store.requests.report(reportOf([record], RECEIVED_AT_MS - age * 1000));
        }
        const question = overdueBy(RECEIVED_AT_MS - 2000, 2);
        expect(await store.requests.settle(question)).toEqual({ count: 2, hasMore: true });
        expect(await readIds(store)).toEqual(['gw-3:settled', 'gw-4:settled']);
        expect(await store.requests.settle(question)).toEqual({ count: 1, hasMore: false });
        expect(await store.requests.settle(question)).toEqual({ count: 0, hasMore: false });
        expect(await readIds(store)).toEqual(['gw-2:settled', 'gw-3:settled', 'gw-4:settled']);
        const type = 'gateway.request.settled';
        const [event] = await store.events.list({ ...EVERYTHING, type });
        const { created, data } = JSON.parse(event?.envelope ?? '');
        expect(data).toMatchObject({
          event_type: type,
          occurred_at: created,
          virtual_key_id: 'vk_1',
          model: 'gpt-5',
          usage: null,
          cost: null,
          status: 'settled',
          needs_reconciliation: true,
          settle_reason: 'confirmation_deadline_expired',
          error: null,
          duration_ms: null,
          metadata: JSON.parse(ADMITTED.metadataJson),
        });
      }),
    );

    it(
      'are reported with the instant of the oldest of them',
      withStore(open, async ({ requests }) => {
        expect(await requests.oldestAdmittedAtMs()).toBeNull();
        const admit = (gatewayRequestId: string, atMs: number) =>
          requests.report(reportOf([recordOf('admitted', { gatewayRequestId })], atMs));
        await admit('gw-young', RECEIVED_AT_MS + 2);
        await admit('gw-old', RECEIVED_AT_MS);
        await admit('gw-next', RECEIVED_AT_MS + 1);
        expect(await requests.oldestAdmittedAtMs()).toBe(RECEIVED_AT_MS);
        await requests.report(reportOf([recordOf('success', { gatewayRequestId: 'gw-old' })]));
        expect(await requests.oldestAdmittedAtMs()).toBe(RECEIVED_AT_MS + 1);
        await requests.settle(overdueBy(RECEIVED_AT_MS + 1, 9));
        expect(await requests.oldestAdmittedAtMs()).toBe(RECEIVED_AT_MS + 2);
      }),
    );

    it(
      'MUST settle a request once, and never one that has its outcome, while outcomes come in',
      withStore(open, async (store) => {
        const ids = Array.from({ length: 60 }, (_, index) => `gw-${index}`);
        await store.requests.report(
          reportOf(ids.map((gatewayRequestId) => recordOf('admitted', { gatewayRequestId }))),
        );
        const outcomes = ids.map((id) => report('success')(store, id));
        const settlements = Array.from({ length: 10 }, () => store.requests.settle(overdueBy(RECEIVED_AT_MS, 20)));
        await Promise.all([...outcomes, ...settlements]);
        const counted = (await Promise.all(settlements)).reduce((sum, { count }) => sum + count, 0);
        const log = (await store.events.list(EVERYTHING)).toReversed();
        const settled = log.filter(({ id }) => id.endsWith(':settled'));
        expect(settled).toHaveLength(counted);
        expect(log).toHaveLength(ids.length + counted);
        expect(new Set(log.map(({ id }) => id)).size).toBe(log.length);
        expect(await store.requests.settle(OVERDUE)).toEqual({ count: 0, hasMore: false });
      }),
    );
  });
}

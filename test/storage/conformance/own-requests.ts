import { describe, expect, it } from 'vitest';
import { gatewayRequestId } from '../../../src/domain/events/request-event.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { BARE_CONTENT, recordOf, reportOf } from './reports.ts';
import {
  ORGANIZATION,
  PROJECT,
  RECEIVED_AT_MS,
  randomHex,
  sampleAppend,
  sampleRequest,
  sampleSpan,
} from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const ID = 'gwreq_0123456789abcdefABCDEFgh';
const OUTCOME = recordOf('success', { gatewayRequestId: ID, cost: { nanoUsd: 5_000, rateVersion: null } });

export function ownRequestConformance(open: OpenSubject): void {
  describe('a span that names a request of our gateway', () => {
    it(
      'MUST NOT give an admitted or settled request its outcome',
      withStore(open, async (store) => {
        await admit(store);
        const span = createSpan();
        await span.send(store, { costNanoUsd: 7 });
        expect(await emittedIds(store)).toEqual([]);
        expect(await overdue(store)).toBe(1);
        await span.send(store, { costNanoUsd: 8, errorJson: '{"has_error":true}' });
        await createSpan().send(store, { costNanoUsd: 9 });
        expect(await emittedIds(store)).toEqual([`${ID}:settled`]);
        await store.requests.report(reportOf([OUTCOME]));
        expect(await emittedIds(store)).toEqual([`${ID}:completed`, `${ID}:settled`]);
      }),
    );

    it(
      'MUST NOT change the outcome, its events or what it costs, however often it is sent',
      withStore(open, async (store, { read }) => {
        await admit(store);
        await store.requests.report(reportOf([OUTCOME]));
        const before = await read('select * from requests');
        const span = createSpan();
        for (const costNanoUsd of [null, 7, 8]) await span.send(store, { costNanoUsd, promptTokens: costNanoUsd });
        await span.send(store, { errorJson: '{"has_error":true}' });
        // Also when the parameter that names it is gone.
        await span.send(store, { paramsJson: null });
        await mend(store, span.traceId, true);
        await mend(store, span.traceId, false);
        expect(await read('select * from requests')).toEqual(before);
        expect(await emittedIds(store)).toEqual([`${ID}:completed`]);
      }),
    );

    it(
      'MUST count under the id that follows from the span when the project has no such request',
      withStore(open, async (store) => {
        // That of another project.
        await admit(store, { projectId: 'project_2', projectNumber: 2 });
        const span = createSpan();
        const id = gatewayRequestId(span.traceId, span.spanId, null);
        await span.send(store, { promptTokens: 1 });
        expect(await emittedIds(store)).toEqual([`${id}:completed`]);
        await span.send(store, { promptTokens: 2 });
        await span.send(store, { promptTokens: 2, paramsJson: null });
        expect(await emittedIds(store)).toEqual([`${id}:completed`, `${id}:completed:2`]);
        await Promise.all([span.send(store, { promptTokens: 3 }), span.send(store, { promptTokens: 3 })]);
        expect(await emittedIds(store)).toEqual([`${id}:completed`, `${id}:completed:2`, `${id}:completed:3`]);
      }),
    );

    it(
      'MUST join it also in a project that emits no events at first',
      withStore(open, async (store) => {
        await admit(store);
        await store.requests.report(reportOf([OUTCOME]));
        const span = createSpan();
        await span.send(store, {}, { emits: false });
        await span.send(store, { paramsJson: null, promptTokens: 9 });
        expect(await emittedIds(store)).toEqual([`${ID}:completed`]);
      }),
    );

    it(
      'MUST join it within the transaction that admits it',
      withStore(open, async (store) => {
        const span = createSpan();
        await Promise.all([admit(store), span.send(store, {}), store.requests.report(reportOf([OUTCOME]))]);
        await span.send(store, { costNanoUsd: 3 });
        expect(await emittedIds(store)).toEqual([`${ID}:completed`]);
      }),
    );
  });
}

async function admit({ requests }: Store, project = {}): Promise<void> {
  const { id: organizationId, number: organizationNumber } = ORGANIZATION;
  const admitted = await requests.admit({
    ...{ kind: 'admission', organizationId, organizationNumber, projectId: PROJECT.id, projectNumber: PROJECT.number },
    ...{ receivedAtMs: RECEIVED_AT_MS, gatewayRequestId: ID, content: BARE_CONTENT, processId: 'process', amounts: [] },
    ...project,
  });
  expect(admitted).toBe('admitted');
}

/** Spans of one id, each time with other facts. */
function createSpan() {
  const [traceId, spanId] = [randomHex(32), randomHex(16)];
  return {
    traceId,
    spanId,
    async send({ traces }: Store, changes: Partial<Span>, { emits = true } = {}): Promise<void> {
      const paramsJson = JSON.stringify({ gateway_request_id: ID });
      const span = sampleSpan({ spanId, parentId: null, paramsJson, ...changes });
      const params = span.paramsJson === null ? null : { gateway_request_id: ID };
      const requests = [sampleRequest({ gatewayRequestId: gatewayRequestId(traceId, spanId, params) })];
      await traces.append(sampleAppend({ traceId, spans: [span], requests: emits ? requests : [] }));
    },
  };
}

async function overdue({ requests }: Store): Promise<number> {
  const settled = await requests.settle({ kind: 'settlement', admittedByMs: RECEIVED_AT_MS, countMax: 10 });
  return settled.count;
}

async function mend({ traces, repricing }: Store, traceId: string, emits: boolean): Promise<void> {
  const record = await traces.find(PROJECT.number, traceId);
  if (record === null) throw new Error('there is no trace');
  const calls = await traces.calls({ ...record, projectNumber: PROJECT.number });
  expect(calls).toHaveLength(1);
  const { updatedAtMs } = record;
  const of = { projectNumber: PROJECT.number, traceId, updatedAtMs, calls, nowMs: RECEIVED_AT_MS };
  const mended = await repricing.mend({ kind: 'mending', ...of, rateVersion: 'registry@2026-08-01', emits });
  expect(mended).toEqual({ kind: 'mended', count: 0 });
}

async function emittedIds({ events }: Store): Promise<readonly string[]> {
  const range = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };
  return (await events.list({ ...range, limit: 100 })).map((event) => event.id).toSorted();
}

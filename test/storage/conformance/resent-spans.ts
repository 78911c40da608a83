import { describe, expect, it } from 'vitest';
import type { EventStore } from '../../../src/domain/events/log-port.ts';
import { CORRECTIONS_MAX } from '../../../src/domain/events/request-event.ts';
import { requestIdOfStored } from '../../../src/domain/traces/request-ids.ts';
import type { TraceStore } from '../../../src/domain/traces/telemetry-port.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { ORGANIZATION, randomHex, sampleAppend, sampleRequest, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

/** One version of a span: its gateway request id or none, its type, its cost, and whether the project emits events. */
type Sending = {
  readonly id?: string;
  readonly type?: Span['type'];
  readonly emits?: boolean;
  readonly costNanoUsd?: number;
};

const NONE: Sending = {};
const A: Sending = { id: 'gw-a' };
const B: Sending = { id: 'gw-b' };
const C: Sending = { id: 'gw-c' };
const TOOL: Sending = { type: 'tool' };
const TOOL_B: Sending = { type: 'tool', id: 'gw-b' };
const off = (sending: Sending): Sending => ({ ...sending, emits: false });

export function resentSpanConformance(open: OpenSubject): void {
  describe('a span that is sent again', () => {
    // Expected events by request id; null stands for the id derived from the span.
    it.each<[change: string, sendings: readonly Sending[], emitted: readonly (string | null)[]]>([
      ['nothing changed', [A, A, A], ['gw-a']],
      ['a request id was added', [NONE, A], [null]],
      ['the request id became another', [A, B], ['gw-a']],
      ['the request id went away', [A, NONE, A], ['gw-a']],
      ['the request id became a third', [A, B, C], ['gw-a']],
      ['the request id came back', [A, B, A, C], ['gw-a']],
      ['an id was added and then changed', [NONE, A, B, NONE, C], [null]],
      ['it was a tool meanwhile', [A, TOOL, A], ['gw-a']],
      ['it was a tool meanwhile and came back as another request', [A, TOOL_B, TOOL, B, C], ['gw-a']],
      ['it was a tool meanwhile, without any id', [NONE, TOOL, A, NONE], [null]],
      ['it had been a tool at first', [TOOL_B, A, B], ['gw-a']],
      ['nothing was emitted at first', [off(A), A], ['gw-a']],
      ['nothing was emitted at first, and the id changed', [off(A), B, A, C], ['gw-b']],
      ['nothing was emitted at first, and an id was added', [off(NONE), A, NONE], ['gw-a']],
      ['nothing is emitted any more', [A, off(B), off(TOOL), off(C), B], ['gw-a']],
      ['it never was a request', [TOOL, TOOL_B, off(A)], []],
    ])(
      'MUST append exactly one completed event per request id however often it is sent: %s',
      async (_change, sendings, emitted) => {
        for (const together of [false, true]) {
          await withStore(open, async ({ traces, events }) => {
            const spanKey = { traceId: randomHex(32), spanId: randomHex(16) };
            const appends = sendings.map((sending) => () => send(traces, spanKey, sending));
            // Concurrent appends share a transaction, which must not change the result.
            if (together) await Promise.all(appends.map((append) => append()));
            else for (const append of appends) await append();
            const ids = emitted.map(
              (id) => id ?? idOf(spanKey, sampleSpan({ spanId: spanKey.spanId, paramsJson: null })),
            );
            expect(await emittedIds(events)).toEqual(ids.map((id) => `${id}:completed`));
          })();
        }
      },
    );

    it(
      'MUST append exactly one completed event per request id however often it is sent: another span has the new id',
      withStore(open, async ({ traces, events }) => {
        const traceId = randomHex(32);
        const [first, second] = [randomHex(16), randomHex(16)];
        await send(traces, { traceId, spanId: first }, A);
        await send(traces, { traceId, spanId: first }, B);
        await send(traces, { traceId, spanId: second }, B);
        await send(traces, { traceId, spanId: second }, C);
        expect(await emittedIds(events)).toEqual(['gw-a:completed', 'gw-b:completed']);
      }),
    );

    it(
      'MUST append exactly one completed event per request id however often it is sent: another project has its id',
      withStore(open, async ({ traces, events }) => {
        const other = { projectId: 'project_2', projectNumber: 2 };
        const spanKey = { traceId: randomHex(32), spanId: randomHex(16) };
        await send(traces, spanKey, A, other);
        await send(traces, spanKey, off(A));
        await send(traces, spanKey, B);
        expect(await emittedIds(events)).toEqual(['gw-a:completed', 'gw-b:completed']);
        // The same if the other project's event has the plain id.
        const next = { traceId: randomHex(32), spanId: randomHex(16) };
        for (const sending of [A, C, NONE]) await send(traces, next, sending);
        expect(await emittedIds(events)).toEqual(['gw-a:completed', 'gw-a:project_1:completed', 'gw-b:completed']);
      }),
    );

    it(
      'MUST count what it costs, when it returns to the cost of its newest event after the last correction',
      withStore(open, async ({ traces, events }, { read }) => {
        const spanKey = { traceId: randomHex(32), spanId: randomHex(16) };
        const counted = async () => {
          const [row] = await read('SELECT nano_usd AS cost FROM requests');
          return Number(row?.cost);
        };
        const corrected = Array.from({ length: CORRECTIONS_MAX + 1 }, (_, index) => 1000 * (index + 1));
        for (const costNanoUsd of corrected) await send(traces, spanKey, { ...A, costNanoUsd });
        const newest = corrected.at(-1) ?? 0;
        for (const costNanoUsd of [7, newest]) {
          await send(traces, spanKey, { ...A, costNanoUsd });
          expect(await counted()).toBe(costNanoUsd);
        }
        expect(await emittedIds(events)).toHaveLength(corrected.length);
      }),
    );
  });
}

type SpanKey = { readonly traceId: string; readonly spanId: string };

async function send(traces: TraceStore, spanKey: SpanKey, sending: Sending, project = {}): Promise<void> {
  const { id, type = 'llm', emits = true, ...cost } = sending;
  const paramsJson =
    id === undefined ? '{"temperature":0}' : JSON.stringify({ temperature: 0, gateway_request_id: id });
  const span = sampleSpan({ spanId: spanKey.spanId, type, paramsJson, ...cost });
  const requests = emits && type === 'llm' ? [sampleRequest({ gatewayRequestId: idOf(spanKey, span) })] : [];
  await traces.append(sampleAppend({ ...project, traceId: spanKey.traceId, spans: [span], requests }));
}

function idOf({ traceId }: SpanKey, span: Span): string {
  return requestIdOfStored(traceId, span) ?? '';
}

async function emittedIds(events: EventStore): Promise<readonly string[]> {
  const range = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };
  return (await events.list({ ...range, limit: 100 })).map((event) => event.id).toSorted();
}

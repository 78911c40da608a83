/** Values of many small parts: bodies of a few megabytes that take long to read, to store or to answer. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { SpanType, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { callRest, callRpc } from '../../support/surfaces.ts';

type Span = NonNullable<MessageInitShape<typeof TraceService.method.collectTrace.input>['spans']>[number];

const ROUNDS = 5;
/** A body has room for half as many again; docs/security.md says what these cost. */
const PARTS = 2_000_000;
const SERVED_MEANWHILE = 60;
const START_MS = Date.now();

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

const authorized = () => ({ 'x-auth-token': target.key });
/** JSON text of a list with this many items. */
const listOf = (item: string, count = PARTS) => `[${`${item},`.repeat(count - 1)}${item}]`;
const ERROR = `{"message":"m","stacktrace":${listOf('""')}}`;
const words = () => listOf('"w"', PARTS / 3).replaceAll('"w"', () => `"w${Math.random().toString(36).slice(2, 6)}"`);

async function post(path: string, body: string): Promise<void> {
  const answer = await callRest(target.address, { verb: 'POST', path, headers: authorized(), body });
  expect([200, 400], answer.text.slice(0, 300)).toContain(answer.status);
}

async function collect(span: Span, metadataJson?: string): Promise<void> {
  const timestamps = { startedAt: timestampFromMs(START_MS), finishedAt: timestampFromMs(START_MS + 1) };
  const spans = [{ spanId: 's', type: SpanType.LLM, timestamps, ...(span as object) }];
  const request = { traceId: 'k', spans, ...(metadataJson !== undefined && { metadataJson }) };
  const answer = await callRpc(target.address, {
    ...{ method: TraceService.method.collectTrace, request },
    headers: authorized(),
  });
  expect(answer.ok, JSON.stringify(answer).slice(0, 300)).toBe(true);
}

async function readBack(): Promise<void> {
  const rest = await callRest(target.address, { path: '/api/traces/k', headers: authorized() });
  expect(rest.status).toBe(200);
  const request = { traceId: 'k' };
  const rpc = await callRpc(target.address, {
    ...{ method: TraceService.method.getTrace, request },
    headers: authorized(),
  });
  expect(rpc.ok).toBe(true);
}

const restSpan = (members: string) =>
  `{"trace_id":"k","spans":[{"span_id":"s","type":"llm","timestamps":{"started_at":${START_MS},"finished_at":${START_MS}},${members}}]}`;

/** An export of one span with one attribute, whose value is a text. */
const otlpSpan = (key: string, text: string) => {
  const attributes = [{ key, value: { stringValue: text } }];
  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 's', attributes };
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
};

it.each<readonly [id: string, what: string, run: () => Promise<void>]>([
  ['K1', 'labels', () => post('/api/collector', `{"trace_id":"k","metadata":{"labels":${listOf('1')}}}`)],
  ['K2', 'labels in an attribute', () => post('/v1/traces', otlpSpan('langwatch.labels', 'a,'.repeat(PARTS)))],
  ['K3', 'labels over gRPC', () => collect({}, `{"labels":${listOf('1')}}`)],
  ['K4', 'metadata', () => post('/api/collector', `{"trace_id":"k","metadata":{"a":${listOf('1')}}}`)],
  ['K5', 'parameters', () => post('/api/collector', restSpan(`"params":{"a":${listOf('1')}}`))],
  ['K6', 'an input, read back', () => post('/api/collector', restSpan(`"input":${words()}`)).then(readBack)],
  ['K7', 'an input over gRPC', () => collect({ input: { type: 'json', valueJson: words() } })],
  ['K8', 'an input in an attribute', () => post('/v1/traces', otlpSpan('langwatch.input', words()))],
  ['K9', 'lines of a stack trace', () => post('/api/collector', restSpan(`"error":${ERROR}`)).then(readBack)],
])('%s: many %s', (id, _, run) =>
  target.attack({ id, n: ROUNDS }, async ({ serves }) => {
    const runAll = async () => {
      for (let round = 0; round < ROUNDS; round += 1) await run();
    };
    await Promise.all([runAll(), serves(SERVED_MEANWHILE)]);
  }),
);

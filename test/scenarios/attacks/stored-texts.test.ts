/** Small requests for traces whose stored texts are large: an append costs what it carries, not what is stored. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { inParallel } from '../../support/scenario.ts';

const TRACES = 2_500;
const EXPECTED_OUTPUT = 'e'.repeat(1024 * 1024);
const METADATA = 'm'.repeat(250_000);
const PARAMETERS = 'p'.repeat(900_000);
const SPANS = 400;
const ROUNDS = 4;
const SERVED_MEANWHILE = 60;
const LARGE_SPANS = 800;
const LARGE_INPUT = 'i'.repeat(1024 * 1024);

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

async function post(path: string, body: object): Promise<void> {
  const headers = { 'x-auth-token': target.key, 'content-type': 'application/json' };
  const answer = await fetch(target.address + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  expect(answer.status, text.slice(0, 300)).toBe(200);
  expect(text).not.toMatch(/"rejectedSpans":"?[1-9]/);
}

const idOf = (index: number) => index.toString(16).padStart(32, '0');
const TRACE_IDS = Array.from({ length: TRACES }, (_, index) => idOf(index + 1));

async function store(fields: object): Promise<void> {
  await inParallel(TRACE_IDS, 2, (traceId) => post('/api/collector', { trace_id: traceId, ...fields }));
}

/** One OTLP request with an empty span for each trace. */
function touchAll(spanId: string, resource: object): Promise<void> {
  const startTimeUnixNano = `${Date.now()}000000`;
  const times = { startTimeUnixNano, endTimeUnixNano: startTimeUnixNano };
  const spans = TRACE_IDS.map((traceId) => ({ traceId, spanId, name: '', ...times }));
  return post('/api/otel/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
}

const ROUND_NUMBERS = Array.from({ length: ROUNDS }, (_, round) => round);
const spanIdOf = (round: number) => (round + 1).toString(16).padStart(16, '0');

it(`N1: one OTLP request with an empty span for each of ${TRACES} traces of a large expected output`, async () => {
  await store({ expected_output: EXPECTED_OUTPUT });
  await target.attack({ id: 'N1', n: ROUNDS }, async ({ serves }) => {
    await Promise.all([
      inParallel(ROUND_NUMBERS, 2, (round) => touchAll(spanIdOf(round), {})),
      serves(SERVED_MEANWHILE),
    ]);
  });
});

it(`N2: one OTLP request that adds a label to the large metadata of each of ${TRACES} traces`, async () => {
  await store({ metadata: { note: METADATA } });
  await target.attack({ id: 'N2', n: ROUNDS }, async ({ serves }) => {
    const resourceOf = (round: number) => ({
      attributes: [{ key: 'langwatch.user.id', value: { stringValue: `user ${round}` } }],
    });
    await Promise.all([
      inParallel(ROUND_NUMBERS, 2, (round) => touchAll(spanIdOf(round), resourceOf(round))),
      serves(SERVED_MEANWHILE),
    ]);
  });
});

const startedAtMs = Date.now();
const timestamps = { started_at: startedAtMs, finished_at: startedAtMs + 1 };

it(`N3: ${SPANS} spans with large parameters are sent again, empty`, async () => {
  const spans = Array.from({ length: SPANS }, (_, index) => ({
    span_id: `s${index}`,
    type: 'llm',
    model: 'm',
    timestamps,
  }));
  const params = { gateway_request_id: 'named', text: PARAMETERS };
  await inParallel(spans, 2, (span) => post('/api/collector', { trace_id: 'params', spans: [{ ...span, params }] }));
  await target.attack({ id: 'N3', n: ROUNDS }, async ({ serves }) => {
    await Promise.all([
      inParallel(ROUND_NUMBERS, 2, () => post('/api/collector', { trace_id: 'params', spans })),
      serves(SERVED_MEANWHILE),
    ]);
  });
});

it(`N4: ${LARGE_SPANS} spans with inputs of 1 MiB are replaced by empty ones in one request`, async () => {
  const spans = Array.from({ length: LARGE_SPANS }, (_, index) => ({ span_id: `s${index}`, type: 'span', timestamps }));
  const input = { type: 'text', value: LARGE_INPUT };
  await inParallel(spans, 2, (span) => post('/api/collector', { trace_id: 'inputs', spans: [{ ...span, input }] }));
  await target.attack({ id: 'N4', n: 1 }, async ({ serves }) => {
    await Promise.all([post('/api/collector', { trace_id: 'inputs', spans }), serves(SERVED_MEANWHILE)]);
  });
});

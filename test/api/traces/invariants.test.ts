/** Invariants of traces for all inputs; other tests use the same names, T1 to T17. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { inParallel } from '../../support/scenario.ts';
import { type Body, callRest } from '../../support/surfaces.ts';

const NOW = Date.now();
const NANO = 1e9;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const headers = () => ({ 'x-auth-token': app.projectKey });
const send = (body: Body) => callRest(app.address, { verb: 'POST', path: '/api/collector', headers: headers(), body });
const post = (path: string, body: string) =>
  fetchChecked(app.address, path, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body,
  });
const read = (traceId: string) => callRest(app.address, { path: `/api/traces/${traceId}`, headers: headers() });

/** A trace of spans with the fields that matter. */
function traceOf(...spans: readonly Body[]): Body {
  const whole = spans.map((span, index) => ({
    span_id: `span-${index}`,
    type: 'llm',
    timestamps: { started_at: NOW, finished_at: NOW + 10 },
    ...span,
  }));
  return { trace_id: hex(32), spans: whole };
}

describe('traces', () => {
  it('T2: show every accepted item right after they are acknowledged, always', async () => {
    await inParallel(Array.from({ length: 200 }), 16, async () => {
      const body = { ...llmTrace(NOW), evaluations: [{ name: 'tone', passed: true }] };
      expect((await send(body)).status).toBe(200);
      const { body: trace } = await read(body.trace_id);
      expect(trace.spans.map(({ span_id }: Body) => span_id)).toEqual([body.spans[0]?.span_id]);
      expect(trace).toMatchObject({ evaluations: [{ name: 'tone', passed: true }], metadata: body.metadata });
    });
  });

  it('T4: cost exactly what their spans cost together', async () => {
    const spans = Array.from({ length: 300 }, (_, index) => ({
      model: index % 2 === 0 ? 'gpt-5-nano' : 'claude-sonnet-4-5',
      metrics: { prompt_tokens: 1 + index * 7, completion_tokens: index % 5, cache_read_input_tokens: index % 3 },
    }));
    const body = traceOf(...spans);
    await send(body);
    const { body: trace } = await read(body.trace_id);
    const nano = (usd: number) => BigInt(Math.round(usd * NANO));
    const sum = trace.spans.reduce((total: bigint, { metrics }: Body) => total + nano(metrics.cost), 0n);
    expect(nano(trace.metrics.total_cost)).toBe(sum);
    expect(trace.metrics.unpriced_spans).toBe(0);
  });

  it('T6: are refused with an error and a message that are strings', async () => {
    const bodies: readonly (readonly [status: number, path: string, body: unknown])[] = [
      [400, '/api/collector', { trace_id: 'x', spans: [{}] }],
      [400, '/api/collector', {}],
      [400, '/api/collector', '['],
      [422, '/api/traces/search', { pageSize: -1 }],
      [404, '/api/traces/unknown/share', {}],
    ];
    for (const [status, path, body] of bodies) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await post(path, text);
      expect(answer.status, path).toBe(status);
      expect(await answer.json()).toMatchObject({ error: expect.any(String), message: expect.any(String) });
    }
    for (const path of ['/api/traces/unknown', '/api/trace/unknown']) {
      const answer = await callRest(app.address, { path, headers: headers() });
      expect(answer.body).toMatchObject({
        error: 'Trace not found.',
        message: 'Trace not found.',
        code: 'trace_not_found',
      });
    }
  });

  it('T7: take milliseconds, report values that seem to be seconds, and round halves up', async () => {
    const at = (started_at: number) => traceOf({ timestamps: { started_at, finished_at: 1_699_900_000_002 } });
    const whole = at(1_699_900_000_000);
    expect((await send(whole)).status).toBe(200);
    expect((await read(whole.trace_id)).body.spans[0].timestamps.started_at).toBe(1_699_900_000_000);
    const half = at(1_699_900_000_000.5);
    // The interface specifies whole milliseconds, but the server accepts fractions.
    expect((await post('/api/collector', JSON.stringify(half))).status).toBe(200);
    expect((await read(half.trace_id)).text).toContain('"started_at":1699900000001,');
    const seconds = await send(at(1_699_900_000));
    expect(seconds).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(seconds.body.message).toContain('looks like seconds, multiply by 1000');
  });

  it('T8: last no less than nothing, and wait for their first token from their start on', async () => {
    const backwards = traceOf({ timestamps: { started_at: NOW, finished_at: NOW - 5000 } });
    await send(backwards);
    expect((await read(backwards.trace_id)).body.metrics.total_time_ms).toBe(0);
    const waiting = traceOf({ timestamps: { started_at: NOW, first_token_at: NOW + 300, finished_at: NOW + 900 } });
    await send(waiting);
    expect((await read(waiting.trace_id)).body.metrics).toMatchObject({ first_token_ms: 300, total_time_ms: 900 });
  });

  it('T9: hold 64 levels of free JSON and not 65, and a string of 1 MiB and not a byte more', async () => {
    const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);
    const body = traceOf({ params: nested(64) }, { params: nested(65) });
    const answer = await send(body);
    expect(answer.body.partialSuccess).toMatchObject({ rejectedSpans: 1 });
    expect(answer.body.partialSuccess.errorMessage).toContain('nested deeper than 64 levels');
    const [kept] = (await read(body.trace_id)).body.spans;
    expect(kept.params).toEqual(nested(64));
    const text = (bytes: number) => traceOf({ input: { type: 'text', value: 'x'.repeat(bytes) } });
    const fitting = text(1_048_576);
    expect((await send(fitting)).body.partialSuccess.errorMessage).toBe('');
    expect((await read(fitting.trace_id)).body.spans[0].input.value).toHaveLength(1_048_576);
    const long = text(1_048_577);
    expect((await send(long)).body.partialSuccess.errorMessage).toContain('truncated to 1048576 bytes');
    expect((await read(long.trace_id)).body.spans[0].input.value).toMatch(/^x{1000}.*…\[truncated: 1048577 bytes\]$/s);
  });

  it('T13: cannot be found from another project', async () => {
    const body = llmTrace(NOW);
    await send(body);
    const made = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers: { 'x-auth-token': app.adminKey },
      body: { name: 'Other', teamId: await teamId() },
    });
    const other = { 'x-auth-token': made.body.apiKey ?? made.body.key };
    expect(typeof other['x-auth-token']).toBe('string');
    for (const [verb, path, sent] of [
      ['GET', `/api/traces/${body.trace_id}`, undefined],
      ['DELETE', `/api/traces/${body.trace_id}`, undefined],
      ['PATCH', `/api/traces/${body.trace_id}/metadata`, { metadata: { seen: true } }],
    ] as const) {
      const request = { verb, path, headers: other, ...(sent === undefined ? {} : { body: sent }) };
      expect(await callRest(app.address, request)).toMatchObject({ status: 404, body: { code: 'trace_not_found' } });
    }
    expect((await read(body.trace_id)).status).toBe(200);
  });

  async function teamId(): Promise<string> {
    const { body } = await callRest(app.address, { path: '/api/teams', headers: { 'x-auth-token': app.adminKey } });
    return body.data[0].id;
  }
});

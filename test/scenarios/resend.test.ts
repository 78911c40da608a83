import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { drawSeed, inParallel, report, seeded } from '../support/scenario.ts';
import { type Body, callRest } from '../support/surfaces.ts';

const NOW = Date.now();
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const headers = () => ({ 'x-auth-token': app.projectKey });
const post = (body: object) =>
  callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers: headers() });
const read = async (traceId: string): Promise<Body> =>
  (await callRest(app.address, { path: `/api/traces/${traceId}`, headers: headers() })).body;

describe('sending again is safe', () => {
  it('D5, T3: every request sent twice, a tenth of them at once, counts once', async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const traces = Array.from({ length: 200 }, () => {
      const traceId = hex(32);
      const spans = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
        span_id: hex(16),
        type: 'llm',
        model: 'gpt-5',
        metrics: { prompt_tokens: Math.floor(random() * 1000), completion_tokens: Math.floor(random() * 1000) },
        timestamps: { started_at: NOW, finished_at: NOW + 10 },
      }));
      return { trace_id: traceId, spans };
    });
    let concurrent = 0;
    await inParallel(traces, 16, async (trace) => {
      if (random() < 0.1) {
        concurrent += 1;
        await Promise.all([post(trace), post(trace)]);
      } else {
        await post(trace);
        await post(trace);
      }
    });
    expect(concurrent, 'some requests were sent at the same time').toBeGreaterThan(0);
    let wrong = 0;
    await inParallel(traces, 16, async (trace) => {
      const { metrics, span_count } = await read(trace.trace_id);
      const prompt = trace.spans.reduce((sum, span) => sum + span.metrics.prompt_tokens, 0);
      const completion = trace.spans.reduce((sum, span) => sum + span.metrics.completion_tokens, 0);
      // gpt-5: 1.25 and 10 USD per million tokens.
      const nano = prompt * 1250 + completion * 10_000;
      const same =
        span_count === trace.spans.length &&
        metrics.prompt_tokens === prompt &&
        metrics.completion_tokens === completion &&
        Math.round(metrics.total_cost * 1e9) === nano;
      if (!same) wrong += 1;
    });
    const events: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Body = (
        await callRest(app.address, {
          path: `/api/webhooks/v1/events?from=0&to=${NOW + 86_400_000}&limit=200&cursor=${cursor}`,
          headers: { authorization: `Bearer ${app.adminKey}` },
        })
      ).body;
      events.push(...page.data.map((event: Body) => event.id));
      cursor = page.next_cursor;
    }
    const spans = traces.reduce((sum, trace) => sum + trace.spans.length, 0);
    const pass = wrong === 0 && events.length === spans && new Set(events).size === spans;
    report({ id: 'D5', seed, n: traces.length, lost: wrong, dup: events.length - spans, pass });
    expect(pass).toBe(true);
  });

  it('T3: a span sent again with other tokens gives totals over the latest versions', async () => {
    const traceId = hex(32);
    const spanId = hex(16);
    const send = (tokens: number) =>
      post({
        trace_id: traceId,
        spans: [
          {
            span_id: spanId,
            type: 'llm',
            model: 'gpt-5',
            metrics: { prompt_tokens: tokens },
            timestamps: { started_at: NOW, finished_at: NOW },
          },
        ],
      });
    await send(100);
    await send(7);
    const trace = await read(traceId);
    expect(trace.span_count).toBe(1);
    expect(trace.metrics.prompt_tokens).toBe(7);
    expect(trace.metrics.total_cost).toBe(0.00000875);
  });

  it('D6, T5: one bad span among 500 costs nothing but itself', async () => {
    const seed = drawSeed();
    const bad = Math.floor(seeded(seed)() * 500);
    const spans = Array.from({ length: 500 }, (_, index) => ({
      span_id: `s${index}`,
      ...(index === bad ? {} : { type: 'tool' }),
      timestamps: { started_at: NOW, finished_at: NOW },
    }));
    const traceId = hex(32);
    const answer = await post({ trace_id: traceId, spans });
    expect(answer.status).toBe(200);
    expect(answer.body.partialSuccess).toEqual({
      rejectedSpans: 1,
      rejectedEvaluations: 0,
      errorMessage: `spans[${bad}].type: is required`,
    });
    const stored = (await read(traceId)).span_count;
    report({ id: 'D6', seed, n: 500, lost: 499 - stored, pass: stored === 499 });
    expect(stored).toBe(499);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const NOW = Date.now();
const { getTrace } = TraceService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

async function collect(body: object): Promise<void> {
  const answer = await callRest(app.address, {
    verb: 'POST',
    path: '/api/collector',
    body,
    headers: { 'x-auth-token': app.projectKey },
  });
  expect(answer.status, answer.text).toBe(200);
}

function getCase(
  traceId: string,
  each: Partial<SurfaceCase<typeof getTrace>> & { status: number; query?: string; request?: object },
): SurfaceCase {
  return {
    name: traceId,
    headers: { 'x-auth-token': app.projectKey },
    rest: { path: `/api/traces/${encodeURIComponent(traceId)}${each.query ?? ''}` },
    rpc: { method: getTrace, request: { traceId, ...each.request } },
    ...each,
  };
}

describe('reading a trace, over REST and gRPC', () => {
  it('T1: what was sent comes back, priced', async () => {
    const sent = llmTrace(NOW);
    const [span] = sent.spans;
    await collect(sent);
    await expectEverywhere(
      app.address,
      getCase(sent.trace_id, {
        status: 200,
        check: (trace: Body) => {
          expect(trace).toMatchObject({
            trace_id: sent.trace_id,
            project_id: app.projectId,
            name: 'llm',
            metadata: sent.metadata,
            models: ['gpt-5'],
            input: { value: 'Say hi.' },
            output: { value: 'Hi.' },
            expected_output: null,
            error: null,
            events: [],
            evaluations: [],
            span_count: 1,
            spans_next_cursor: null,
            ascii_tree: '.\n└── llm: llm (gpt-5)',
          });
          expect(trace.metrics).toEqual({
            first_token_ms: 300,
            total_time_ms: 1200,
            prompt_tokens: 100,
            completion_tokens: 150,
            reasoning_tokens: null,
            cache_read_input_tokens: null,
            cache_creation_input_tokens: null,
            total_cost: 0.001625,
            unpriced_spans: 0,
            tokens_estimated: false,
          });
          expect(trace.spans).toEqual([
            {
              ...span,
              trace_id: sent.trace_id,
              parent_id: null,
              name: 'llm',
              metrics: { prompt_tokens: 100, completion_tokens: 150, cost: 0.001625, cost_source: 'registry' },
              error: null,
              contexts: [],
            },
          ]);
          expect(JSON.stringify(trace.spans[0].input)).toBe(JSON.stringify(span?.input));
          expect(JSON.stringify(trace.spans[0].output)).toBe(JSON.stringify(span?.output));
          expect(JSON.stringify(trace.spans[0].params)).toBe(JSON.stringify(span?.params));
          expect(trace.platformUrl).toMatch(
            new RegExp(`^http://127\\.0\\.0\\.1:${app.port}/default-project-.{6}/traces/${sent.trace_id}$`),
          );
        },
      }),
    );
  });

  it('a span that names no parent speaks for the trace, also when an earlier span waits for its parent', async () => {
    const say = (text: string) => ({ type: 'text', value: text });
    const span = (id: string, fields: object, lastsMs = 5) => ({
      ...{ span_id: id, name: id, type: 'span', input: say(`${id} in`), output: say(`${id} out`) },
      timestamps: { started_at: NOW, finished_at: NOW + lastsMs },
      ...fields,
    });
    const orphan = span('orphan', {
      parent_id: 'elsewhere',
      timestamps: { started_at: NOW - 9, finished_at: NOW + 9 },
    });
    const root = span('root', {});
    // Large traces keep their root, smaller ones compute it.
    const others = (count: number) =>
      Array.from({ length: count }, (_, index) => span(`child-${index}`, { parent_id: 'orphan' }, 4));
    for (const count of [0, 300]) {
      for (const appends of [[[orphan, root]], [[orphan], [root]], [[root], [orphan]], [[orphan], [root], [orphan]]]) {
        const traceId = hex(32);
        for (const spans of [others(count), ...appends]) {
          if (spans.length > 0) await collect({ trace_id: traceId, spans });
        }
        const check = (trace: Body) =>
          expect(trace).toMatchObject({ name: 'root', input: { value: 'root in' }, output: { value: 'root out' } });
        await expectEverywhere(app.address, getCase(traceId, { status: 200, check }));
      }
    }
  });

  it('T15: every instant and count is a JSON integer', async () => {
    const sent = llmTrace(NOW);
    await collect(sent);
    const { text } = await callRest(app.address, {
      path: `/api/traces/${sent.trace_id}`,
      headers: { 'x-auth-token': app.projectKey },
    });
    const tokens = [...text.matchAll(/"(?:[a-z_]*_(?:ms|at|tokens)|span_count|unpriced_spans)":([^,}]+)/g)].map(
      (match) => match[1] ?? '',
    );
    expect(tokens.length).toBeGreaterThan(10);
    for (const token of tokens) expect(token).toMatch(/^(null|-?\d+)$/);
  });

  it('T13: an unknown trace and one of another project are the same 404', async () => {
    const check = (body: Body) =>
      expect(body).toMatchObject({ error: 'Trace not found.', message: 'Trace not found.' });
    await expectEverywhere(app.address, getCase(hex(32), { status: 404, code: 'trace_not_found', check }));
    await expectEverywhere(app.address, getCase('x'.repeat(201), { status: 404, code: 'trace_not_found', check }));
  });

  it('a call without a credential, with a wrong one, or without the permission is refused', async () => {
    await expectEverywhere(app.address, getCase('t', { headers: {}, status: 401, code: 'missing_credentials' }));
    await expectEverywhere(
      app.address,
      getCase('t', { headers: { 'x-auth-token': 'nope' }, status: 401, code: 'invalid_credentials' }),
    );
    const narrow = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:create'])] });
    await expectEverywhere(
      app.address,
      getCase('t', { headers: { 'x-auth-token': narrow }, status: 403, code: 'api_key_permission_denied' }),
    );
  });

  it('a bad query names every bad field', async () => {
    const answer = await callRest(app.address, {
      path: '/api/traces/t?format=xml&spansLimit=0&spansCursor=a&spansCursor=b',
      headers: { 'x-auth-token': app.projectKey },
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'validation_error', target: 'query' });
    expect(answer.body.fields.sort()).toEqual(['format', 'spansCursor', 'spansLimit']);
  });

  it('a short hex id is padded, and a prefix finds the only trace that starts with it', async () => {
    const padded = '0'.repeat(20) + hex(12);
    const long = hex(32);
    await collect(llmTrace(NOW, padded));
    await collect(llmTrace(NOW, long));
    const check = (id: string) => (body: Body) => expect(body.trace_id).toBe(id);
    await expectEverywhere(app.address, getCase(padded.slice(20), { status: 200, check: check(padded) }));
    await expectEverywhere(app.address, getCase(long.slice(0, 10).toUpperCase(), { status: 200, check: check(long) }));
  });

  it('an ambiguous prefix is 409 and names the candidates', async () => {
    const prefix = hex(12);
    const ids = [`${prefix}${hex(20)}`, `${prefix}${hex(20)}`].sort();
    for (const id of ids) await collect(llmTrace(NOW, id));
    await expectEverywhere(
      app.address,
      getCase(prefix, {
        status: 409,
        code: 'ambiguous_trace_id',
        check: (body) => expect(body.candidateTraceIds).toEqual(ids),
      }),
    );
  });

  it('T14: pages of spans put together are every span once, and a foreign cursor is refused', async () => {
    const traceId = hex(32);
    const spans = Array.from({ length: 25 }, (_, index) => ({
      span_id: `span-${index}`,
      type: 'tool',
      timestamps: { started_at: NOW + (index % 5), finished_at: NOW + 10 },
    }));
    await collect({ trace_id: traceId, spans });
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await callRest(app.address, {
        path: `/api/traces/${traceId}?spansLimit=7&spansCursor=${cursor}`,
        headers: { 'x-auth-token': app.projectKey },
      });
      expect(page.body.span_count).toBe(25);
      seen.push(...page.body.spans.map((span: Body) => span.span_id));
      cursor = page.body.spans_next_cursor;
    }
    expect(new Set(seen).size).toBe(25);
    expect(seen).toHaveLength(25);
    await expectEverywhere(
      app.address,
      getCase(traceId, {
        query: '?spansCursor=forged',
        request: { pageToken: 'forged' },
        status: 422,
        code: 'invalid_cursor',
      }),
    );
  });

  it('span ids of the longest and widest kind can be paged', async () => {
    const traceId = hex(32);
    const spans = ['a', 'b'].map((end) => ({
      span_id: `${'😀'.repeat(199)}${end}`,
      type: 'tool',
      timestamps: { started_at: NOW, finished_at: NOW },
    }));
    await collect({ trace_id: traceId, spans });
    const headers = { 'x-auth-token': app.projectKey };
    const first = await callRest(app.address, { path: `/api/traces/${traceId}?spansLimit=1`, headers });
    expect(first.status).toBe(200);
    const second = await callRest(app.address, {
      path: `/api/traces/${traceId}?spansLimit=1&spansCursor=${first.body.spans_next_cursor}`,
      headers,
    });
    expect(second.body.spans[0].span_id).toBe(spans[1]?.span_id);
  });

  it('reads one span by its id, and no other', async () => {
    const traceId = hex(32);
    const ids = ['00000000000000ab', 'second'];
    const timestamps = { started_at: NOW, finished_at: NOW };
    const spans = ids.map((span_id) => ({ span_id, type: 'tool', timestamps }));
    const evaluations = [{ evaluation_id: 'e', name: 'n', status: 'processed', passed: true }];
    await collect({ trace_id: traceId, spans, evaluations });
    for (const [sent, stored] of [
      ['00000000000000AB', ids[0]],
      ['second', ids[1]],
    ] as const) {
      const check = ({ spans: [span, ...others], spans_next_cursor, span_count, evaluations: of }: Body) =>
        expect([span.span_id, others, spans_next_cursor ?? null, Number(span_count), of]).toEqual([
          ...[stored, [], null, 2, []],
        ]);
      const one = { query: `?spanId=${sent}`, request: { spanId: sent }, status: 200, check };
      await expectEverywhere(app.address, getCase(traceId, one));
    }
    for (const sent of ['third', 'x'.repeat(201)]) {
      const none = { query: `?spanId=${sent}`, request: { spanId: sent }, status: 404, code: 'trace_not_found' };
      await expectEverywhere(app.address, getCase(traceId, none));
    }
  });

  it('the digest is a text of the same trace', async () => {
    const sent = llmTrace(NOW);
    await collect(sent);
    const check = (body: Body) => {
      expect(Object.keys(body)).toEqual([
        'trace_id',
        'formatted_trace',
        'timestamps',
        'metadata',
        'evaluations',
        'platformUrl',
      ]);
      expect(body.formatted_trace).toContain('llm: llm (gpt-5)');
      expect(body.formatted_trace).toContain('input: Say hi.');
    };
    await expectEverywhere(
      app.address,
      getCase(sent.trace_id, { query: '?format=digest', request: { format: 2 }, status: 200, check }),
    );
    await expectEverywhere(
      app.address,
      getCase(sent.trace_id, { query: '?llmMode=1', request: { llmMode: '1' }, status: 200, check }),
    );
  });

  it('the legacy spelling answers the same without the link, and says where to go', async () => {
    const sent = llmTrace(NOW);
    await collect(sent);
    const headers = { 'x-auth-token': app.projectKey };
    const current = await callRest(app.address, { path: `/api/traces/${sent.trace_id}`, headers });
    const legacy = await callRest(app.address, { path: `/api/trace/${sent.trace_id}`, headers });
    const { platformUrl: _, ...rest } = current.body;
    expect(legacy.body).toEqual(rest);
    expect(legacy.headers.get('deprecation')).toBe('true');
    expect(legacy.headers.get('link')).toBe(`</api/traces/${sent.trace_id}>; rel="successor-version"`);
  });
});

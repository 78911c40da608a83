import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';

const NOW = Date.now();
const MIB = 1024 * 1024;
const RESPONSE_MAX_BYTES = 8 * MIB;
const { getTrace } = TraceService.method;

let app: TestApp;
let headers: { readonly 'x-auth-token': string };
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
  headers = { 'x-auth-token': app.projectKey };
});
afterAll(async () => {
  await app.close();
});

async function collect(body: object): Promise<void> {
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers });
  expect(answer.status, answer.text).toBe(200);
}

function spanOf(spanId: string, fields: object = {}) {
  return { span_id: spanId, type: 'tool', timestamps: { started_at: NOW, finished_at: NOW }, ...fields };
}

/** Reads every page of a trace; each must fit an answer. */
async function readPages(traceId: string): Promise<readonly Body[]> {
  const pages: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null && pages.length < 100; ) {
    const page = await callRest(app.address, { path: `/api/traces/${traceId}?spansCursor=${cursor}`, headers });
    expect(page.status, page.text.slice(0, 200)).toBe(200);
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(RESPONSE_MAX_BYTES);
    pages.push(page.body);
    cursor = page.body.spans_next_cursor;
  }
  return pages;
}

describe('one answer about a trace', () => {
  it('T14: holds at most 8 MiB as it is written, and the pages are every evaluation and every span once', async () => {
    const traceId = hex(32);
    // JSON escapes double its length.
    const text = '"'.repeat(450_000);
    const ids = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}${10 + index}`);
    for (const part of [0, 1]) {
      const evaluations = ids(`e${part}`, 6).map((id) => ({ evaluation_id: id, name: 'n', score: 1, details: text }));
      await collect({ trace_id: traceId, evaluations, metadata: { large: 'm'.repeat(200_000) } });
      await collect({ trace_id: traceId, spans: ids(`s${part}`, 6).map((id) => spanOf(id, { output: text })) });
    }
    const pages = await readPages(traceId);
    expect(pages.length).toBeGreaterThanOrEqual(3);
    expect(pages.length).toBeLessThanOrEqual(6);
    for (const page of pages) expect(page).toMatchObject({ span_count: 12, trace_id: traceId });
    const evaluationIds = pages.flatMap((page) => page.evaluations.map(({ evaluation_id: id }: Body) => id));
    expect(evaluationIds).toEqual([...ids('e0', 6), ...ids('e1', 6)]);
    const spanIds = pages.flatMap((page) => page.spans.map(({ span_id: id }: Body) => id));
    expect(spanIds).toEqual([...ids('s0', 6), ...ids('s1', 6)]);
    const cursor = pages[0]?.spans_next_cursor;
    await expectEverywhere(app.address, {
      name: 'the second page',
      headers,
      rest: { path: `/api/traces/${traceId}?spansCursor=${cursor}` },
      rpc: { method: getTrace, request: { traceId, pageToken: cursor } },
      status: 200,
      check: (body) => expect(body.evaluations).toHaveLength(pages[1]?.evaluations.length),
    });
    const foreign = hex(32);
    await collect({ trace_id: foreign, spans: [spanOf('s')] });
    await expectEverywhere(app.address, {
      name: 'the cursor of another trace',
      headers,
      rest: { path: `/api/traces/${foreign}?spansCursor=${cursor}` },
      rpc: { method: getTrace, request: { traceId: foreign, pageToken: cursor } },
      status: 422,
      code: 'invalid_cursor',
    });
  });

  it('gives a span that is larger than a page, alone', async () => {
    const traceId = hex(32);
    const params = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, 'x'.repeat(MIB)]));
    await collect({ trace_id: traceId, spans: [spanOf('a'), spanOf('b', { params }), spanOf('c')] });
    const seen: string[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await callRest(app.address, { path: `/api/traces/${traceId}?spansCursor=${cursor}`, headers });
      seen.push(page.body.spans.map(({ span_id: id }: Body) => id));
      cursor = page.body.spans_next_cursor;
    }
    expect(seen).toEqual([['a'], ['b'], ['c']]);
  });

  it('cuts the texts beside its spans, so that they never fill a page', async () => {
    const traceId = hex(32);
    const large = { type: 'json', value: Array.from({ length: 4 }, () => '"'.repeat(500_000)) };
    const stacktrace = Array.from({ length: 3000 }, (_, index) => `${index} ${'f'.repeat(1000)}`);
    await collect({
      trace_id: traceId,
      spans: [spanOf('root', { input: large, output: { type: 'text', value: 'short' } })],
      expected_output: large.value,
    });
    await collect({
      trace_id: traceId,
      spans: [spanOf('leaf', { parent_id: 'root', error: { message: 'm', stacktrace } })],
    });
    const [page, ...more] = await readPages(traceId);
    expect(page?.input.value).toMatch(/"…\[truncated: 4\d{6} bytes]$|\\…\[truncated: 4\d{6} bytes]$/);
    expect(page?.expected_output).toMatch(/…\[truncated: 4\d{6} bytes]$/);
    expect(page?.output.value).toBe('short');
    expect(page?.error.message).toBe('m');
    expect(page?.error.stacktrace.length).toBeGreaterThan(1000);
    expect(page?.error.stacktrace.length).toBeLessThan(2000);
    const spans = [page, ...more].flatMap((each) => each?.spans);
    expect(spans.map(({ span_id: id }) => id)).toEqual(['leaf', 'root']);
    expect(spans[1].input).toEqual(large);
    expect(spans[0].error.stacktrace).toEqual(stacktrace);
  });

  it('holds at most 8 MiB as a digest, too, and says what it leaves out', async () => {
    const traceId = hex(32);
    for (const part of [0, 1]) {
      const evaluations = Array.from({ length: 9 }, (_, index) => ({
        ...{ evaluation_id: `e${part}${index}`, name: 'n', score: 1 },
        details: 'd'.repeat(900_000),
      }));
      await collect({ trace_id: traceId, evaluations });
    }
    const spans = Array.from({ length: 190 }, (_, index) =>
      spanOf(`s${index}`, {
        parent_id: index === 0 ? null : `s${index - 1}`,
        input: '\n'.repeat(2000),
        output: '\n'.repeat(2000),
      }),
    );
    await collect({ trace_id: traceId, spans });
    const check = (body: Body) => {
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(RESPONSE_MAX_BYTES);
      expect(body.evaluations.length).toBeGreaterThan(4);
      expect(body.formatted_trace).toMatch(/\n… \d+ more\n… \d+ more evaluations$/);
      const omitted = Number(/(\d+) more evaluations/.exec(body.formatted_trace)?.[1]);
      expect(body.evaluations.length + omitted).toBe(18);
    };
    await expectEverywhere(app.address, {
      name: 'digest',
      headers,
      rest: { path: `/api/traces/${traceId}?format=digest` },
      rpc: { method: getTrace, request: { traceId, format: 2 } },
      status: 200,
      check,
    });
  });
});

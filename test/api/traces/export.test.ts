import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExportTracesResponse, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, hex } from '../../support/fixtures.ts';
import { rpcFilters } from '../../support/rpc-filters.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { exportTraces } = TraceService.method;
const START = Date.now() - 3_600_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

type Sent = { readonly group: string; readonly spans?: number; readonly text?: string; readonly evaluations?: number };

async function sendTrace({ group, spans = 1, text = 'in', evaluations = 0 }: Sent, atMs = START): Promise<string> {
  const body = {
    trace_id: hex(32),
    metadata: { group },
    spans: Array.from({ length: spans }, (_, index) => ({
      type: 'span',
      span_id: hex(16),
      input: { type: 'text', value: text },
      timestamps: { started_at: atMs + index, finished_at: atMs + index + 1 },
    })),
    evaluations: Array.from({ length: evaluations }, (_, index) => ({ name: `e${index}`, score: index })),
  };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
  return body.trace_id;
}

const inGroup = (group: string) => ({ 'metadata.value': { group: [group] } });

async function exportLines(body: object): Promise<Body[]> {
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/traces/export', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  expect(answer.text === '' || answer.text.endsWith('\n')).toBe(true);
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function exportCase(body: object, request: object, each: Partial<SurfaceCase> & { status: number }): SurfaceCase {
  return {
    name: JSON.stringify(body),
    headers: key(),
    rest: { verb: 'POST', path: '/api/traces/export', body },
    rpc: { method: exportTraces, request },
    ...each,
  } as SurfaceCase;
}

describe('exporting traces, over REST and gRPC', () => {
  it('a row is that of a search', async () => {
    const traceId = await sendTrace({ group: 'row' });
    const filters = inGroup('row');
    const found = await callRest(app.address, {
      verb: 'POST',
      path: '/api/traces/search',
      headers: key(),
      body: { filters },
    });
    const [line] = await exportLines({ filters });
    expect(line).toEqual(found.body.traces[0]);
    const check = (body: Body) => expect(body).toMatchObject({ trace_id: traceId, metadata: { group: 'row' } });
    const sent = rpcFilters(filters);
    await expectEverywhere(app.address, exportCase({ filters }, { filters: sent }, { status: 200, check }));
    const digest = (body: Body) => expect(body.formatted_trace).toBe('Input: in\nOutput: ');
    await expectEverywhere(
      app.address,
      exportCase({ filters, format: 'digest' }, { filters: sent, format: 2 }, { status: 200, check: digest }),
    );
    const [summary] = await exportLines({ filters, llmMode: true });
    expect(summary).not.toHaveProperty('spans');
  });

  it('every trace is there once, in the order of a search, also beyond a page', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 130; index += 1) ids.push(await sendTrace({ group: 'many' }, START + index));
    const lines = await exportLines({ filters: inGroup('many'), sortDirection: 'asc' });
    expect(lines.map((line) => line.trace_id)).toEqual(ids);
    expect(await exportLines({ filters: inGroup('none') })).toEqual([]);
  });

  it('a large trace comes whole, in one line over REST and in several messages over RPC', async () => {
    const spans = 700;
    await sendTrace({ group: 'large', spans, evaluations: 3, text: 'x'.repeat(5_000) });
    await sendTrace({ group: 'large' }, START - 1);
    const filters = inGroup('large');
    const [large, small] = await exportLines({ filters, includeSpans: true });
    expect(new Set(large.spans.map((span: Body) => span.span_id)).size).toBe(spans);
    expect(large).toMatchObject({ span_count: spans, spans_next_cursor: null });
    expect(large.evaluations).toHaveLength(3);
    expect(small.spans).toHaveLength(1);
    const baseUrl = app.address;
    const transports = [
      createGrpcTransport({ baseUrl }),
      createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
      createConnectTransport({ baseUrl, httpVersion: '1.1' }),
      createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: false }),
    ];
    for (const transport of transports) {
      const request = { filters: rpcFilters(filters), includeSpans: true };
      const answers: ExportTracesResponse[] = [];
      const stream = createClient(TraceService, transport).exportTraces(request, { headers: key() });
      for await (const answer of stream) answers.push(answer);
      expect(answers.filter(({ part }) => part.case === 'row')).toHaveLength(2);
      expect(answers.reduce((sum, answer) => sum + spansIn(answer), 0)).toBe(spans + 1);
      expect(answers.length).toBeGreaterThan(3);
    }
  });

  it('what is wrong is refused before anything is sent', async () => {
    const wrong = { filters: { nothing: ['x'] } };
    const request = { filters: rpcFilters(wrong.filters) };
    await expectEverywhere(app.address, exportCase(wrong, request, { status: 422, code: 'validation_error' }));
    const reversed = { startDate: 2_000_000_000_000, endDate: 1_000_000_000_000 };
    const dates = { startDate: { seconds: 2_000_000_000n }, endDate: { seconds: 1_000_000_000n } };
    await expectEverywhere(app.address, exportCase(reversed, dates, { status: 422, code: 'validation_error' }));
    const headers = { 'x-auth-token': '' };
    await expectEverywhere(app.address, exportCase({}, {}, { headers, status: 401, code: 'missing_credentials' }));
    const dead = { 'x-auth-token': `sk-lw-${'A'.repeat(48)}` };
    await expectEverywhere(
      app.address,
      exportCase({}, {}, { headers: dead, status: 401, code: 'invalid_credentials' }),
    );
    const { organizationId: scopeId, projectId } = app;
    const token = await addKey(app, {
      bindings: [{ role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId, permissions: ['project:view'] }],
    });
    const narrow = { authorization: `Bearer ${token}`, 'x-project-id': projectId };
    await expectEverywhere(
      app.address,
      exportCase({}, {}, { headers: narrow, status: 403, code: 'api_key_permission_denied' }),
    );
  });
});

function spansIn({ part }: ExportTracesResponse): number {
  if (part.case === 'more') return part.value.spans.length;
  return part.value?.view.case === 'trace' ? part.value.view.value.spans.length : 0;
}

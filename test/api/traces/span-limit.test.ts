import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpanType, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const NOW = Date.now();
const { collectTrace } = TraceService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_MAX_SPANS_PER_TRACE: '3' } });
});
afterAll(async () => {
  await app.close();
});

function collectCase(traceId: string, ids: readonly string[], expected: Partial<SurfaceCase> & { status: number }) {
  const at = { startedAt: timestampFromMs(NOW), finishedAt: timestampFromMs(NOW) };
  return {
    name: ids.join(' '),
    headers: { 'x-auth-token': app.projectKey },
    rest: {
      verb: 'POST',
      path: '/api/collector',
      body: {
        trace_id: traceId,
        spans: ids.map((id) => ({ span_id: id, type: 'span', timestamps: { started_at: NOW, finished_at: NOW } })),
      },
    },
    rpc: {
      method: collectTrace,
      request: { traceId, spans: ids.map((id) => ({ spanId: id, type: SpanType.SPAN, timestamps: at })) },
    },
    ...expected,
  };
}

const tooMany = (index: number) => `spans[${index}]: too many spans, maximum of 3 per trace`;

describe('spans of one trace, over REST and gRPC', () => {
  it('are refused one by one beyond their most, and those that are there can still be replaced', async () => {
    const traceId = hex(32);
    await expectEverywhere(
      app.address,
      collectCase(traceId, ['a', 'b', 'c', 'd', 'e'], {
        status: 200,
        check: (body) =>
          expect(body.partialSuccess).toEqual({
            rejectedSpans: 2,
            rejectedEvaluations: 0,
            errorMessage: `${tooMany(3)}; ${tooMany(4)}`,
          }),
      }),
    );
    await expectEverywhere(
      app.address,
      collectCase(traceId, ['f', 'b', 'c'], {
        status: 200,
        check: (body) =>
          expect(body.partialSuccess).toEqual({ rejectedSpans: 1, rejectedEvaluations: 0, errorMessage: tooMany(0) }),
      }),
    );
    await expectEverywhere(
      app.address,
      collectCase(traceId, ['g', 'h'], {
        status: 400,
        code: 'validation_error',
        check: (body) => {
          expect(body.message).toBe(`Validation error: ${tooMany(0)}; ${tooMany(1)}`);
          expect(body.error).toBe(body.message);
        },
      }),
    );
    const headers = { 'x-auth-token': app.projectKey };
    const { body } = await callRest(app.address, { path: `/api/traces/${traceId}`, headers });
    expect(body.span_count).toBe(3);
    expect(body.spans.map((span: { span_id: string }) => span.span_id)).toEqual(['a', 'b', 'c']);
  });
});

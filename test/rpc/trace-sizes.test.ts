import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type GetTraceResponse, GetTraceResponseSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { type Evaluation, NOTHING_SENT, type Span } from '../../src/domain/traces/trace.ts';
import { evaluationBytes, spanBytes } from '../../src/domain/traces/trace-size.ts';
import type { Traces } from '../../src/domain/traces/traces.ts';
import { createTraceRpc } from '../../src/rpc/traces/traces.ts';
import { compileEncoder } from '../../src/transport/rest/encode.ts';
import { PROJECT } from '../domain/traces/collector/collecting.ts';
import { bareSpan, sampleEvaluation, sampleSpan } from '../storage/conformance/samples.ts';

const encode = compileEncoder(GetTraceResponseSchema);
const TRACE_ID = 'trace "1"';
const SLACK_BYTES = 260;

/** The REST text of a trace with only these parts. */
async function written(spans: readonly Span[], evaluations: readonly Evaluation[]): Promise<string> {
  const totals = { spanCount: 0, unpricedSpans: 0, tokensEstimated: false, firstTokenMs: null, totalTimeMs: null };
  const noTokens = { promptTokens: null, completionTokens: null, reasoningTokens: null, totalCostNanoUsd: null };
  const noCache = { cacheReadInputTokens: null, cacheCreationInputTokens: null, startedAtMs: null, finishedAtMs: null };
  const times = {
    insertedAtMs: 1,
    updatedAtMs: 1,
    anchorAtMs: null,
    hasError: false,
    aggregatesJson: null,
    sequence: 1,
  };
  const record = {
    ...totals,
    ...noTokens,
    ...noCache,
    ...times,
    traceId: TRACE_ID,
    metadataJson: '{}',
    ...NOTHING_SENT,
  };
  const choice = { rootId: null, inputFromId: null, outputFromId: null, errorFromId: null, name: '', models: [] };
  const texts = { input: '', output: '', expectedOutput: null, errorJson: null, asciiTree: '', nextSpansCursor: null };
  const shown = evaluations.map(({ inputsJson, ...rest }) => ({ ...rest, shownInputsJson: inputsJson }));
  const traces: Pick<Traces, 'get'> = {
    get: async () => ({
      record,
      choice,
      ...texts,
      spans,
      events: [],
      annotationCount: 0,
      evaluations: shown,
      isShortOfEvaluations: false,
    }),
  };
  const { getTrace } = createTraceRpc({
    changes: {} as never,
    analytics: {} as never,
    searches: {} as never,
    facets: {} as never,
    exports: {} as never,
    tails: {} as never,
    traces: traces as Traces,
    logs: {} as never,
    settings: {} as never,
    platformUrl: () => '',
    runCooperatively: async (steps) => runWithoutPauses(steps),
  });
  if (!('handle' in getTrace)) throw new Error('The call reads JSON.');
  const context = { project: PROJECT, nowMs: 0 } as never;
  const answer = await getTrace.handle({ traceId: TRACE_ID, pageToken: '', llmMode: '', format: 0 } as never, context);
  return encode(create(GetTraceResponseSchema, answer as GetTraceResponse));
}

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('"\\', '\u0001\u007f', '\u2028é😀'));
const tokens = fc.option(fc.integer({ min: 0, max: 1e12 }));

it('spans and evaluations take about as many bytes as is reckoned, and never more', async () => {
  const nothing = Buffer.byteLength(await written([], []));
  const spans = fc
    .record({
      spanId: text,
      parentId: fc.option(text),
      name: fc.option(text),
      vendor: fc.option(text),
      model: fc.option(text),
      promptTokens: tokens,
      completionTokens: tokens,
      cacheReadInputTokens: tokens,
      costNanoUsd: fc.option(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
      inputJson: fc.option(text.map((value) => JSON.stringify({ type: 'text', value }))),
      errorJson: fc.option(text.map((message) => JSON.stringify({ has_error: true, message, stacktrace: [message] }))),
      telemetryJson: fc.option(text.map((value) => JSON.stringify({ attributes: { value } }))),
      contextsJson: fc.option(text.map((content) => JSON.stringify([{ document_id: null, chunk_id: null, content }]))),
    })
    .chain((changes) => fc.constantFrom(sampleSpan(changes), bareSpan(changes)));
  await fc.assert(
    fc.asyncProperty(spans, async (span) => {
      const bytes = Buffer.byteLength(await written([span], [])) - nothing;
      expect(spanBytes(span, TRACE_ID)).toBeGreaterThanOrEqual(bytes);
      expect(spanBytes(span, TRACE_ID)).toBeLessThan(bytes + SLACK_BYTES);
    }),
  );
  const evaluations = fc
    .record({
      evaluationId: text,
      name: text,
      label: fc.option(text),
      details: fc.option(text),
      score: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    })
    .map((changes) => sampleEvaluation(changes));
  await fc.assert(
    fc.asyncProperty(evaluations, async (evaluation) => {
      const bytes = Buffer.byteLength(await written([], [evaluation])) - nothing;
      expect(evaluationBytes(evaluation)).toBeGreaterThanOrEqual(bytes);
      expect(evaluationBytes(evaluation)).toBeLessThan(bytes + SLACK_BYTES);
    }),
  );
});

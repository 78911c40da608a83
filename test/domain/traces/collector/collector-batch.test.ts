import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/domain/fault.ts';
import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import { collectBatch } from '../../../../src/domain/traces/collector/collector.ts';
import {
  type MetadataDraft,
  type Sent,
  type TraceDraft,
  unreadable,
} from '../../../../src/domain/traces/collector/collector-draft.ts';
import { toTraceDraft } from '../../../../src/domain/traces/collector/collector-json.ts';
import { reportBatch } from '../../../../src/domain/traces/collector/collector-report.ts';
import { LIMITS, NO_LOSSES, NOW_MS, PROJECT, pricing, spanOf } from './collecting.ts';

const FACTS = { depth: 128, hasEscapes: true, bytes: 10_485_760, hasWide: false };
const AT = { project: PROJECT, nowMs: NOW_MS, expiredBeforeMs: null };

type BatchTrace = TraceDraft & { readonly traceId: string };

function traceOf(traceId: string, body: object, indexes: TraceDraft['indexes']): BatchTrace {
  const draft = toTraceDraft(body as JsonValue, FACTS);
  return { ...draft, traceId, ...(indexes === undefined ? {} : { indexes: indexes }) };
}

function collectAll(traces: readonly BatchTrace[], refused: readonly { index: number; reason: string }[] = []) {
  return runWithoutPauses(
    collectBatch({ traces, refused }, AT, { limits: LIMITS, prices: pricing, losses: NO_LOSSES }),
  );
}

it('many traces of one span each are validated in steps', () => {
  const traces = Array.from({ length: 500 }, (_, index) => traceOf(`t${index}`, { spans: [spanOf({})] }, undefined));
  const batch = { traces, refused: [] };
  const steps = collectBatch(batch, AT, { limits: LIMITS, prices: pricing, losses: NO_LOSSES });
  expect([...steps].length).toBeGreaterThan(400);
});

describe('several traces of one request', () => {
  const bad = { span_id: 'bad' };
  const judged = collectAll(
    [
      traceOf('a', { spans: [spanOf({ span_id: '1' }), bad] }, { spans: [0, 4], evaluations: [] }),
      traceOf('b', { spans: [bad], metadata: { user_id: 'u' } }, { spans: [2], evaluations: [] }),
      traceOf(
        'c',
        { spans: [spanOf({ span_id: '1' }), spanOf({ span_id: '2' })], evaluations: [{}], metadata: { user_id: {} } },
        { spans: [1, 5], evaluations: [3] },
      ),
    ],
    [{ index: 3, reason: '.trace_id: must be 16 bytes' }],
  );

  it('are validated one by one, and one without anything to store is left out', () => {
    expect(judged.map(({ isStorable }) => isStorable)).toEqual([true, false, true]);
    expect(judged.map(({ collected }) => collected.append.spans.length)).toEqual([1, 0, 2]);
    expect(judged[1]?.collected.append.metadataJson).toBeNull();
  });

  it('are reported by the indexes of their items in the request', () => {
    const appended = [{ metadataNotes: [] }, { metadataNotes: ['note'], refusedSpans: [1] }];
    expect(reportBatch({ refused: [{ index: 3, reason: '.trace_id: must be 16 bytes' }] }, judged, appended)).toEqual({
      rejectedSpans: 4,
      rejectedEvaluations: 1,
      errorMessage: [
        'spans[2].type: is required',
        'spans[3].trace_id: must be 16 bytes',
        'spans[4].type: is required',
        `spans[5]: too many spans, maximum of ${LIMITS.spansPerTraceMax} per trace`,
        'evaluations[3].name: is required',
        'metadata.user_id: must be a string, number or boolean',
        'note',
      ].join('; '),
    });
  });

  it('share the limit of one request', () => {
    const spans = new Array(6_000).fill(bad);
    const traces = [traceOf('a', { spans }, undefined), traceOf('b', { spans }, undefined)];
    expect(() => collectAll(traces)).toThrow('Too many spans, maximum of 10000 per request');
  });
});

describe('metadata that a trace got from several spans', () => {
  function merged(...drafts: Sent<MetadataDraft>[]) {
    const trace = { ...traceOf('a', { spans: [spanOf({})] }, undefined), metadata: drafts };
    const [judged] = collectAll([trace]);
    return [judged?.collected.append.metadataJson, judged?.collected.notes];
  }
  const draft = (members: MetadataDraft['members']) => ({ members, pathPrefix: 'metadata.' });

  it('is merged in their order: the later wins, null leaves, labels add up', () => {
    expect(
      merged(
        draft({ user_id: 'u', labels: ['a'], plan: 'free', left: 1 }),
        undefined,
        draft({ user_id: 'v', labels: ['b', 'a'], plan: { tier: 2 }, left: null }),
        draft({ labels: 'c' }),
      ),
    ).toEqual(['{"user_id":"v","labels":["a","b","c"],"plan":{"tier":2},"left":1}', []]);
  });

  it('is dropped alone where it is unusable', () => {
    expect(merged(unreadable('metadata', 'must be valid JSON'), draft({ thread_id: 't' }))).toEqual([
      '{"thread_id":"t"}',
      ['metadata: must be valid JSON'],
    ]);
  });
});

it('what only OpenTelemetry spans carry is kept as it came, within the limits of free JSON', () => {
  const trace = traceOf('a', { spans: [spanOf({})] }, undefined);
  const { spans } = trace;
  if (spans === undefined || !('at' in spans)) throw new Error('The trace has no spans.');
  const span = spans.at(0);
  if (span === undefined || !('spanId' in span)) throw new Error('The span cannot be read.');
  const telemetry = { attributes: { 'a.b': [1, null] }, kind: 'SPAN_KIND_CLIENT' };
  const [judged] = collectAll([{ ...trace, spans: [{ ...span, telemetry }] }]);
  expect(judged?.collected.append.spans[0]?.telemetryJson).toBe(JSON.stringify(telemetry));
});

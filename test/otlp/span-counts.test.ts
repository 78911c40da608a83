import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { createCooperativeRunner, runWithoutPauses } from '../../src/domain/steps.ts';
import { readJsonExport } from '../../src/domain/traces/otlp/json-export.ts';
import { createOtlpMethods } from '../../src/rpc/traces/otlp.ts';
import { readWireExport } from '../../src/rpc/traces/otlp-wire.ts';
import { openWire } from '../../src/transport/otlp/wire.ts';

const TOO_MANY = expect.objectContaining({
  code: 'payload_too_large',
  message: 'Too many spans, maximum of 3 per request',
});

describe('spans of a request', () => {
  it('are counted over all its groups, as message', () => {
    const group = { scopeSpans: [{ spans: [{ name: 'a' }, { name: 'b' }] }] };
    const request = create(ExportTraceServiceRequestSchema, { resourceSpans: [group, group] });
    expect(() => runWithoutPauses(readWireExport(toBinary(ExportTraceServiceRequestSchema, request), 3))).toThrow(
      TOO_MANY,
    );
  });

  it('are counted over all its groups before any is read, as JSON', () => {
    const group = { scopeSpans: [{ spans: [{ name: 5 }, { name: 5 }] }] };
    const body = { resourceSpans: [group, group] };
    expect(() => runWithoutPauses(readJsonExport(body, { bytes: 100, depth: 4 }, 3))).toThrow(TOO_MANY);
  });

  it('may be as many as the limit', () => {
    const spans = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    expect(runWithoutPauses(readJsonExport(body, { bytes: 100, depth: 4 }, 3)).spans).toHaveLength(3);
    const request = create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans }] }] });
    const bytes = toBinary(ExportTraceServiceRequestSchema, request);
    expect(runWithoutPauses(readWireExport(bytes, 3)).spans).toHaveLength(3);
  });
});

const runCooperatively = createCooperativeRunner({ yieldToEventLoop, nowMs: () => performance.now() });

/** The decoder of the traces method for a media type. */
function wireOf(mediaType: string | undefined) {
  const traces = { collectBatch: () => Promise.reject(new Error('not asked')) };
  const logs = { collect: () => Promise.reject(new Error('not asked')), join: () => Promise.resolve() };
  const deps = { traces, logs, onSpans: () => undefined, onDiscarded: () => undefined, runCooperatively, spansMax: 3 };
  const [method] = createOtlpMethods(deps, { ingestBytesMax: 1000 });
  if (method === undefined) throw new Error('no method');
  const wire = openWire(method, mediaType);
  return { decode: (bytes: Buffer) => wire.decode(bytes, { runCooperatively, yieldToEventLoop }) };
}

describe('a body of no media type', () => {
  it('is JSON when it begins as an object within 1024 bytes', async () => {
    expect(await wireOf(undefined).decode(Buffer.from(`${' '.repeat(1023)}{}`))).toMatchObject({ kind: 'json' });
    expect(await wireOf(undefined).decode(Buffer.from(`${' '.repeat(1024)}{}`))).toMatchObject({ kind: 'bytes' });
  });
});

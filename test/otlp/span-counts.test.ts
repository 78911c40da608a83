import { setImmediate as nextTurn } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
} from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { readJsonExport } from '../../src/domain/otlp/json-export.ts';
import { createStepTaker, runAtOnce } from '../../src/domain/steps.ts';
import { createOtlpMethods } from '../../src/rpc/otlp.ts';
import { readMessageExport } from '../../src/rpc/otlp-message.ts';
import { openWire } from '../../src/transport/otlp/wire.ts';

const TOO_MANY = expect.objectContaining({
  code: 'payload_too_large',
  message: 'Too many spans, maximum of 3 per request',
});

describe('spans of a request', () => {
  it('are counted over all its groups before any is read, as message', () => {
    // Nobody can read these: whoever tries fails otherwise.
    const scopeSpans = [{ spans: Array.from({ length: 2 }) }, { spans: Array.from({ length: 2 }) }];
    const request = { resourceSpans: [{ scopeSpans }] } as unknown as ExportTraceServiceRequest;
    expect(() => runAtOnce(readMessageExport(request, 3))).toThrow(TOO_MANY);
  });

  it('are counted over all its groups before any is read, as JSON', () => {
    const group = { scopeSpans: [{ spans: [{ name: 5 }, { name: 5 }] }] };
    const body = { resourceSpans: [group, group] };
    expect(() => runAtOnce(readJsonExport(body, { bytes: 100, depth: 4 }, 3))).toThrow(TOO_MANY);
  });

  it('may be as many as the limit', () => {
    const spans = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    expect(runAtOnce(readJsonExport(body, { bytes: 100, depth: 4 }, 3)).spans).toHaveLength(3);
    const request = create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans }] }] });
    expect(runAtOnce(readMessageExport(request, 3)).spans).toHaveLength(3);
  });
});

const takeSteps = createStepTaker({ nextTurn, nowMs: () => performance.now() });

/** How the method for traces reads bodies of a media type. */
function wireOf(mediaType: string | undefined) {
  const traces = { collectBatch: () => Promise.reject(new Error('not asked')) };
  const deps = { traces, onDiscarded: () => undefined, takeSteps, spansMax: 3 };
  const [method] = createOtlpMethods(deps, { ingestBytesMax: 1000 });
  if (method === undefined) throw new Error('no method');
  const wire = openWire(method, mediaType);
  return { decode: (bytes: Buffer) => wire.decode(bytes, { takeSteps, yieldFor: () => undefined }) };
}

describe('fields that nobody knows', () => {
  it('are not kept while a request is read', async () => {
    const known = toBinary(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema));
    const bytes = Buffer.concat([known, Buffer.from([0xfa, 0x01, 0x02, 0x68, 0x69])]);
    const request = await wireOf('application/x-protobuf').decode(bytes);
    if (request.kind !== 'message') throw new Error('not read as protobuf');
    expect(request.message.$unknown).toBeUndefined();
  });
});

describe('a body of no media type', () => {
  it('is JSON when it begins as an object within 1024 bytes', async () => {
    expect(await wireOf(undefined).decode(Buffer.from(`${' '.repeat(1023)}{}`))).toMatchObject({ kind: 'json' });
    await expect(wireOf(undefined).decode(Buffer.from(`${' '.repeat(1024)}{}`))).rejects.toThrow(
      'The message could not be decoded.',
    );
  });
});

import { create, type MessageInitShape, toBinary, toJson } from '@bufbuild/protobuf';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { KeyValueSchema } from '../../gen/opentelemetry/proto/common/v1/common_pb.js';
import { createTemplate, type Template } from './template.ts';

/** Ids of OpenTelemetry's length; the template overwrites them with hex digits, which are valid bytes. */
const traceIdBytes = Buffer.from('T'.repeat(16));
const spanIdBytes = Buffer.from('S'.repeat(8));
const startedAtMark = 3_000_000_000_001;
const finishedAtMark = 3_000_000_000_002;
const instants = [
  { mark: startedAtMark, ageMs: 1_240 },
  { mark: finishedAtMark, ageMs: 20 },
];

const said = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o-mini',
  'gen_ai.request.temperature': 0.7,
  'gen_ai.usage.input_tokens': 412n,
  'gen_ai.usage.output_tokens': 57n,
  'user.id': 'user_5f2c91',
  'gen_ai.conversation.id': 'thread_80b1d4',
  'gen_ai.input.messages': JSON.stringify([
    {
      role: 'system',
      content: 'You are a helpful assistant of an online shop. Answer briefly and in a friendly tone.',
    },
    { role: 'user', content: 'Where is my order 48213? It should have arrived on Tuesday.' },
  ]),
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', content: 'Your order 48213 left our warehouse on Monday and arrives tomorrow before noon.' },
  ]),
};

/** An export of one trace in protobuf. */
export function createProtobufExport(spans: number): Template {
  return createTemplate(Buffer.from(toBinary(ExportTraceServiceRequestSchema, exportOf(spans))), {
    traceIdMark: traceIdBytes.toString('latin1'),
    spanIdMark: spanIdBytes.toString('latin1'),
    instants: instants.map(({ mark, ageMs }) => ({ mark: fixedBytes(mark), ageMs })),
    encodeInstant: fixedBytes,
  });
}

/** The export in JSON, with ids in hex. */
export function createJsonExport(spans: number): Template {
  const [traceIdMark, spanIdMark] = ['T'.repeat(32), 'S'.repeat(16)];
  const marks: Readonly<Record<string, string>> = { traceId: traceIdMark, spanId: spanIdMark };
  const json = toJson(ExportTraceServiceRequestSchema, exportOf(spans));
  return createTemplate(Buffer.from(JSON.stringify(json, (key, value) => marks[key] ?? value)), {
    traceIdMark,
    spanIdMark,
    instants: instants.map(({ mark, ageMs }) => ({ mark: digits(mark), ageMs })),
    encodeInstant: digits,
  });
}

function exportOf(spans: number) {
  const span = {
    traceId: traceIdBytes,
    spanId: spanIdBytes,
    name: 'chat gpt-4o-mini',
    kind: 3,
    startTimeUnixNano: BigInt(startedAtMark) * 1_000_000n,
    endTimeUnixNano: BigInt(finishedAtMark) * 1_000_000n,
    attributes: attributesOf(said),
  };
  const resource = { attributes: attributesOf({ 'service.name': 'shop', 'telemetry.sdk.name': 'opentelemetry' }) };
  const scope = { name: 'shop', version: '1.0.0' };
  const resourceSpans = [{ resource, scopeSpans: [{ scope, spans: Array.from({ length: spans }, () => span) }] }];
  return create(ExportTraceServiceRequestSchema, { resourceSpans });
}

type Said = { readonly [key: string]: string | number | bigint };

function attributesOf(of: Said): MessageInitShape<typeof KeyValueSchema>[] {
  return Object.entries(of).map(([key, value]) => {
    if (typeof value === 'string') return { key, value: { value: { case: 'stringValue', value } } };
    if (typeof value === 'bigint') return { key, value: { value: { case: 'intValue', value } } };
    return { key, value: { value: { case: 'doubleValue', value } } };
  });
}

/** An instant in nanoseconds as eight bytes. */
function fixedBytes(instantMs: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(instantMs) * 1_000_000n);
  return bytes;
}

function digits(instantMs: number): Buffer {
  return Buffer.from(String(BigInt(instantMs) * 1_000_000n), 'latin1');
}

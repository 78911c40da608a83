import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { CollectTraceRequestSchema, SpanType } from '../../gen/spandrel/v1/traces_pb.js';
import { createTemplate, type Template, varintBytes } from './template.ts';

const bodyBytesMin = 900;
const bodyBytesMax = 1000;

// Marks of the same length as the values patched over them; no other part of a trace contains them.
const traceIdMark = 'T'.repeat(32);
const spanIdMark = 'S'.repeat(16);
// Thirteen digits in JSON and twelve bytes in protobuf, like every instant from 2001 to 2109.
const startedAtMark = 3_000_000_000_901;
const firstTokenAtMark = 3_000_000_000_902;
const finishedAtMark = 3_000_000_000_903;

/** The age of each instant. */
const instants = [
  { mark: startedAtMark, ageMs: 1_240 },
  { mark: firstTokenAtMark, ageMs: 910 },
  { mark: finishedAtMark, ageMs: 20 },
];

const input = {
  type: 'chat_messages',
  value: [
    {
      role: 'system',
      content: 'You are a helpful assistant of an online shop. Answer briefly and in a friendly tone.',
    },
    { role: 'user', content: 'Where is my order 48213? It should have arrived on Tuesday.' },
  ],
};
const output = {
  type: 'chat_messages',
  value: [
    {
      role: 'assistant',
      content:
        'Your order 48213 left our warehouse on Monday and arrives tomorrow before noon. You can follow it in your account.',
      function_call: null,
      tool_calls: [],
    },
  ],
};
const params = { temperature: 0.7, stream: true };
const metrics = { prompt_tokens: 412, completion_tokens: 57 };
const metadata = {
  user_id: 'user_5f2c91',
  thread_id: 'thread_80b1d4',
  customer_id: 'customer_17',
  labels: ['production', 'support'],
};

/** The JSON body of one trace. With one span it has the 900 to 1000 bytes of the promised figures. */
export function createJsonTrace(spans: number): Template {
  const span = {
    type: 'llm',
    span_id: spanIdMark,
    vendor: 'openai',
    model: 'gpt-4o-mini',
    input,
    output,
    params,
    metrics,
    timestamps: { started_at: startedAtMark, first_token_at: firstTokenAtMark, finished_at: finishedAtMark },
  };
  const trace = { trace_id: traceIdMark, spans: Array.from({ length: spans }, () => span), metadata };
  const body = Buffer.from(JSON.stringify(trace));
  if (spans === 1 && (body.length < bodyBytesMin || body.length > bodyBytesMax)) {
    throw new Error(`The body has ${body.length} bytes, outside ${bodyBytesMin} to ${bodyBytesMax}.`);
  }
  return createTemplate(body, {
    traceIdMark,
    spanIdMark,
    instants: instants.map(({ mark, ageMs }) => ({ mark: digits(mark), ageMs })),
    encodeInstant: digits,
  });
}

/** The same trace as a protobuf message. */
export function createProtoTrace(): Template {
  const message = create(CollectTraceRequestSchema, {
    traceId: traceIdMark,
    metadataJson: JSON.stringify(metadata),
    spans: [
      {
        type: SpanType.LLM,
        spanId: spanIdMark,
        vendor: 'openai',
        model: 'gpt-4o-mini',
        input: { type: input.type, valueJson: JSON.stringify(input.value) },
        output: { type: output.type, valueJson: JSON.stringify(output.value) },
        paramsJson: JSON.stringify(params),
        metrics: {
          promptTokens: BigInt(metrics.prompt_tokens),
          completionTokens: BigInt(metrics.completion_tokens),
        },
        timestamps: {
          startedAt: timestampFromMs(startedAtMark),
          firstTokenAt: timestampFromMs(firstTokenAtMark),
          finishedAt: timestampFromMs(finishedAtMark),
        },
      },
    ],
  });
  return createTemplate(Buffer.from(toBinary(CollectTraceRequestSchema, message)), {
    traceIdMark,
    spanIdMark,
    instants: instants.map(({ mark, ageMs }) => ({ mark: timestampBytes(mark), ageMs })),
    encodeInstant: timestampBytes,
  });
}

/** A google.protobuf.Timestamp with nanoseconds padded to five bytes. */
function timestampBytes(instantMs: number): Buffer {
  const nanos = (instantMs % 1000) * 1_000_000;
  const padded = [0, 7, 14, 21].map((shift) => ((nanos >>> shift) & 0x7f) | 0x80);
  const seconds = varintBytes(Math.floor(instantMs / 1000));
  return Buffer.from([0x08, ...seconds, 0x10, ...padded, nanos >>> 28]);
}

function digits(instantMs: number): Buffer {
  return Buffer.from(String(instantMs), 'latin1');
}

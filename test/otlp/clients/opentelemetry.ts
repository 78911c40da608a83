/**
 * An agent instrumented by hand with the OpenTelemetry SDK, after the semantic conventions for generative AI.
 * First argument: http, proto or grpc. Prints the id of its trace.
 */

import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { node, resources } from '@opentelemetry/sdk-node';

const exporters = {
  http: () => new JsonExporter(),
  proto: () => new ProtobufExporter(),
  grpc: () => new GrpcExporter(),
};
const exporter = exporters[process.argv[2] as keyof typeof exporters]();
const provider = new node.NodeTracerProvider({
  resource: resources.resourceFromAttributes({
    'service.name': 'travel-agent',
    'deployment.environment.name': 'test',
    team: 'growth',
  }),
  spanProcessors: [new node.BatchSpanProcessor(exporter)],
});
const tracer = provider.getTracer('travel-agent', '1.2.0');

// Spans that start in the same millisecond have no order.
const beganAt = Date.now() - 10;

const agent = tracer.startSpan('invoke_agent planner', {
  startTime: beganAt,
  kind: SpanKind.SERVER,
  attributes: {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'planner',
    'gen_ai.conversation.id': 'conversation-7',
    'user.id': 'user-42',
    'tag.tags': ['beta', 'paris'],
    metadata: JSON.stringify({ plan: 'pro', seats: 3 }),
  },
});
const inside = trace.setSpan(context.active(), agent);

const chat = tracer.startSpan(
  'chat gpt-5-mini',
  {
    startTime: beganAt + 1,
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.response.model': 'gpt-5-mini-2025-08-07',
      'gen_ai.request.temperature': 0.2,
      'gen_ai.request.max_tokens': 256,
      'gen_ai.request.stop_sequences': ['END'],
      'gen_ai.usage.input_tokens': 1000,
      'gen_ai.usage.output_tokens': 200,
      'gen_ai.usage.cache_read.input_tokens': 400,
      'gen_ai.usage.reasoning.output_tokens': 64,
      'gen_ai.input.messages': JSON.stringify([
        { role: 'system', parts: [{ type: 'text', content: 'Plan trips.' }] },
        { role: 'user', parts: [{ type: 'text', content: 'A day in Paris?' }] },
      ]),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: 'Begin at the Louvre.' }], finish_reason: 'stop' },
      ]),
    },
  },
  inside,
);
chat.addEvent('gen_ai.content.chunk', { index: 0 });
chat.addEvent('gen_ai.content.chunk', { index: 1 });
chat.end();

const tool = tracer.startSpan(
  'execute_tool book_hotel',
  {
    startTime: beganAt + 2,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'book_hotel',
      'gen_ai.tool.call.arguments': JSON.stringify({ city: 'Paris', nights: 1 }),
    },
    links: [{ context: chat.spanContext(), attributes: { reason: 'asked for by' } }],
  },
  inside,
);
const failure = new RangeError('no room left');
tool.recordException(failure);
tool.setStatus({ code: SpanStatusCode.ERROR, message: 'booking failed' });
tool.end();
agent.end();

await provider.shutdown();
console.log(agent.spanContext().traceId);

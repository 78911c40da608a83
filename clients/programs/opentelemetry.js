/** OpenTelemetry by hand, as a program without an instrumentation does it. */

import { SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({ serviceName: 'weather', traceExporter: new OTLPTraceExporter() });
sdk.start();

const tracer = trace.getTracer('weather');
const text = (role, content) => ({ role, parts: [{ type: 'text', content }] });
const call = (output) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-5-mini',
  'gen_ai.response.model': 'gpt-5-mini-2025-08-07',
  'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'Tell the weather.' }]),
  'gen_ai.input.messages': JSON.stringify([text('user', 'Rain in Oslo?')]),
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [output] }]),
  'gen_ai.usage.input_tokens': 1000,
  'gen_ai.usage.output_tokens': 200,
  'gen_ai.usage.cache_read.input_tokens': 400,
  'gen_ai.usage.reasoning.output_tokens': 64,
});

const agent = { 'gen_ai.operation.name': 'invoke_agent', 'user.id': 'user-42', 'gen_ai.conversation.id': 'thread-7' };
tracer.startActiveSpan('invoke_agent weather', { attributes: agent }, (root) => {
  const asked = { type: 'tool_call', id: 'call-1', name: 'forecast', arguments: { city: 'Oslo' } };
  tracer.startSpan('chat gpt-5-mini', { attributes: call(asked) }).end();
  tracer.startSpan('execute_tool forecast', { attributes: { 'gen_ai.operation.name': 'execute_tool' } }).end();
  tracer.startSpan('chat gpt-5-mini', { attributes: call({ type: 'text', content: 'It will rain.' }) }).end();
  const failed = tracer.startSpan('chat broken', {
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'broken', 'error.type': 'ServerError' },
  });
  failed.setStatus({ code: SpanStatusCode.ERROR });
  failed.end();
  root.end();
});
await sdk.shutdown();

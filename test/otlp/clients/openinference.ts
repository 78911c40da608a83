/** Calls of the openai package with OpenInference instrumentation. Prints the id of its trace. */

import { setMetadata, setSession, setTags, setUser } from '@arizeai/openinference-core';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { node, resources } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';

const provider = new node.NodeTracerProvider({
  resource: resources.resourceFromAttributes({ 'service.name': 'weather-bot' }),
  spanProcessors: [new node.BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
const instrumentation = new OpenAIInstrumentation({ tracerProvider: provider });
instrumentation.manuallyInstrument(OpenAI);

const openai = new OpenAI({ maxRetries: 0 });
const tracer = provider.getTracer('weather-bot');
const root = tracer.startSpan('weather', {
  attributes: { 'openinference.span.kind': 'CHAIN', 'input.value': 'Rain in Oslo?' },
});

let inside = trace.setSpan(context.active(), root);
inside = setUser(inside, { userId: 'user-42' });
inside = setSession(inside, { sessionId: 'conversation-7' });
inside = setTags(inside, ['beta', 'weather']);
inside = setMetadata(inside, { plan: 'pro', seats: 3 });

const tools = [
  {
    type: 'function' as const,
    function: { name: 'forecast', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];
const messages = [
  { role: 'system' as const, content: 'Tell the weather.' },
  { role: 'user' as const, content: 'Rain in Oslo?' },
];
await context.with(inside, async () => {
  await openai.chat.completions.create({ model: 'gpt-5-mini', temperature: 0.2, messages, tools });
  const stream = await openai.chat.completions.create({ model: 'gpt-5-mini', messages, stream: true });
  for await (const _ of stream);
  await openai.embeddings.create({ model: 'text-embedding-3-small', input: 'Rain in Oslo?' });
  await openai.chat.completions.create({ model: 'broken', messages }).catch(() => {});
});
root.setAttribute('output.value', 'Take an umbrella.');
root.end();

await provider.shutdown();
console.log(root.spanContext().traceId);

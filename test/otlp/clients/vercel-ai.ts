/** Calls of the ai package with its telemetry switched on. Prints the id of its trace. */

import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { node, resources } from '@opentelemetry/sdk-node';
import { embed, generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { MockEmbeddingModelV3, MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { nextMillisecond } from './next-millisecond.ts';

const provider = new node.NodeTracerProvider({
  resource: resources.resourceFromAttributes({ 'service.name': 'recipe-bot' }),
  spanProcessors: [new node.BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
const tracer = provider.getTracer('recipe-bot');

const usage = {
  inputTokens: { total: 1000, noCache: 600, cacheRead: 400, cacheWrite: 0 },
  outputTokens: { total: 200, text: 136, reasoning: 64 },
};
const stop = { unified: 'stop' as const, raw: 'stop' };
const callTool = { unified: 'tool-calls' as const, raw: 'tool_calls' };
const named = { provider: 'openai.chat', modelId: 'gpt-5-mini' };
const answering = (text: string) =>
  new MockLanguageModelV3({
    ...named,
    doGenerate: { content: [{ type: 'text', text }], finishReason: stop, usage, warnings: [] },
  });

const telemetry = {
  isEnabled: true,
  functionId: 'recipes',
  metadata: { userId: 'user-42', threadId: 'conversation-7', labels: ['beta', 'recipes'], plan: 'pro', seats: 3 },
};

const root = tracer.startSpan('cook');
await context.with(trace.setSpan(context.active(), root), async () => {
  await generateText({
    model: new MockLanguageModelV3({
      ...named,
      async doGenerate({ prompt }) {
        await nextMillisecond();
        const isAnswered = prompt.some(({ role }) => role === 'tool');
        return {
          content: isAnswered
            ? [{ type: 'text', text: 'Make soup.' }]
            : [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'pantry', input: '{"shelf":2}' }],
          finishReason: isAnswered ? stop : callTool,
          usage,
          warnings: [],
        };
      },
    }),
    tools: {
      pantry: tool({
        inputSchema: jsonSchema<{ shelf: number }>({ type: 'object', properties: { shelf: { type: 'number' } } }),
        execute: async ({ shelf }) => {
          await nextMillisecond();
          return { shelf, holds: ['leek'] };
        },
      }),
    },
    stopWhen: stepCountIs(2),
    system: 'You cook.',
    prompt: 'What can I make?',
    temperature: 0.2,
    experimental_telemetry: telemetry,
  });
  const { textStream } = streamText({
    model: new MockLanguageModelV3({
      ...named,
      doStream: {
        stream: simulateReadableStream({
          chunkDelayInMs: 5,
          chunks: [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'Make ' },
            { type: 'text-delta', id: '1', delta: 'soup.' },
            { type: 'text-end', id: '1' },
            { type: 'finish', finishReason: stop, usage },
          ],
        }),
      },
    }),
    prompt: 'What can I make?',
    experimental_telemetry: telemetry,
  });
  for await (const _ of textStream);
  await nextMillisecond();
  await generateObject({
    model: answering('{"dish":"soup"}'),
    schema: jsonSchema<{ dish: string }>({ type: 'object', properties: { dish: { type: 'string' } } }),
    prompt: 'Name a dish.',
    experimental_telemetry: telemetry,
  });
  await nextMillisecond();
  await embed({
    model: new MockEmbeddingModelV3({
      provider: 'openai.embedding',
      modelId: 'text-embedding-3-small',
      doEmbed: { embeddings: [[0.1, 0.2]], usage: { tokens: 9 }, warnings: [] },
    }),
    value: 'soup',
    experimental_telemetry: telemetry,
  });
  await nextMillisecond();
  await generateText({
    model: new MockLanguageModelV3({
      ...named,
      doGenerate: async () => {
        throw new RangeError('the stove is out');
      },
    }),
    maxRetries: 0,
    prompt: 'What can I make?',
    experimental_telemetry: telemetry,
  }).catch(() => {});
});
root.end();

await provider.shutdown();
console.log(root.spanContext().traceId);

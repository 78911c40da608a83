/** The AI SDK with its package for OpenTelemetry. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { embed, generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai';
import { z } from 'zod';

const sdk = new NodeSDK({ serviceName: 'weather', traceExporter: new OTLPTraceExporter() });
sdk.start();
registerTelemetry(new OpenTelemetry({ runtimeContext: true, usage: true, embedding: true }));

const openai = createOpenAI();
const anthropic = createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` });
const [, , provider = 'openai'] = process.argv;
const model = provider === 'openai' ? openai('gpt-5-mini') : anthropic('claude-sonnet-4-5-20250929');
const telemetry = {
  runtimeContext: { userId: 'user-42', sessionId: 'thread-7' },
  telemetry: { includeRuntimeContext: { userId: true, sessionId: true } },
};
const forecast = tool({
  description: 'The weather of tomorrow.',
  inputSchema: z.object({ city: z.string() }),
  execute: async () => 'rain',
});

await trace.getTracer('weather').startActiveSpan('weather', async (root) => {
  await generateText({
    model,
    instructions: 'Tell the weather.',
    prompt: 'Rain in Oslo?',
    tools: { forecast },
    stopWhen: isStepCount(2),
    ...telemetry,
  });
  const { textStream } = streamText({ model, prompt: 'Rain in Oslo?', ...telemetry });
  for await (const _ of textStream);
  if (provider === 'openai') {
    await embed({ model: openai.embedding('text-embedding-3-small'), value: 'Rain in Oslo?', ...telemetry });
  }
  const broken = provider === 'openai' ? openai('broken') : anthropic('broken');
  await generateText({ model: broken, prompt: 'Rain in Oslo?', maxRetries: 0, ...telemetry }).catch(() => {});
  root.end();
});
await sdk.shutdown();

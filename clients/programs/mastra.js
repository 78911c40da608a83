/** Mastra with its exporter for OpenTelemetry. */

import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import { z } from 'zod';

const custom = {
  endpoint: `${process.env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
  headers: { authorization: `Bearer ${process.env.LANGWATCH_API_KEY}` },
  protocol: 'http/protobuf',
};
const exporter = new OtelExporter({ provider: { custom }, signals: { logs: false } });
const forecast = createTool({
  id: 'forecast',
  description: 'The weather of tomorrow.',
  inputSchema: z.object({ city: z.string() }),
  execute: async () => ({ weather: 'rain' }),
});
const openai = createOpenAI();
const agent = (id, model) =>
  new Agent({ id, name: id, instructions: 'Tell the weather.', model: openai.chat(model), tools: { forecast } });
const mastra = new Mastra({
  agents: { weather: agent('weather', 'gpt-5-mini'), broken: agent('broken', 'broken') },
  observability: new Observability({ configs: { otel: { serviceName: 'weather', exporters: [exporter] } } }),
  logger: false,
});
const tracingOptions = { metadata: { userId: 'user-42', sessionId: 'thread-7' }, tags: ['beta'] };
await mastra.getAgent('weather').generate('Rain in Oslo?', { tracingOptions });
await mastra
  .getAgent('broken')
  .generate('Rain in Oslo?', { tracingOptions, modelSettings: { maxRetries: 0 } })
  .catch(() => {});
await mastra.shutdown();
process.exit();

/** OpenAI's Agents SDK with OpenInference's instrumentation. */

import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as agents from '@openai/agents';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { z } from 'zod';

const instrumentation = new OpenAIAgentsInstrumentation();
const sdk = new NodeSDK({
  serviceName: 'weather',
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [instrumentation],
});
sdk.start();
instrumentation.manuallyInstrument(agents);

const forecast = agents.tool({
  name: 'forecast',
  description: 'The weather of tomorrow.',
  parameters: z.object({ city: z.string() }),
  execute: async () => 'rain',
});
const agent = new agents.Agent({
  name: 'weather',
  instructions: 'Tell the weather.',
  model: 'gpt-5-mini',
  tools: [forecast],
});
await agents.run(agent, 'Rain in Oslo?');
await sdk.shutdown();
process.exit();

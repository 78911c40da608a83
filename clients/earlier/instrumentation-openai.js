/** OpenTelemetry's instrumentation of the package of OpenAI, which sends texts as log records. */

import { createRequire } from 'node:module';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { callOpenAi } from '../programs/calls.js';

process.env.OTEL_LOGS_EXPORTER = 'otlp';
const sdk = new NodeSDK({
  serviceName: 'weather',
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [new OpenAIInstrumentation({ captureMessageContent: true })],
});
sdk.start();

// Modules that are imported would be loaded before the instrumentation.
const { OpenAI } = createRequire(import.meta.url)('openai');
const attributes = { 'user.id': 'user-42', 'session.id': 'thread-7' };
await trace.getTracer('weather').startActiveSpan('weather', { attributes }, async (root) => {
  await callOpenAi(new OpenAI({ maxRetries: 0 }));
  root.end();
});
await sdk.shutdown();

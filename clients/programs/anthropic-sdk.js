/** The package of Anthropic, which traces its calls once a provider is registered. */

import Anthropic from '@anthropic-ai/sdk';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { callAnthropic } from './calls.js';

const sdk = new NodeSDK({ serviceName: 'weather', traceExporter: new OTLPTraceExporter() });
sdk.start();
await trace.getTracer('weather').startActiveSpan('weather', async (root) => {
  await callAnthropic(new Anthropic({ maxRetries: 0 }));
  root.end();
});
await sdk.shutdown();

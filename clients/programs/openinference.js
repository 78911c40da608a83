/** OpenInference's instrumentations of the packages of OpenAI and Anthropic. */

import Anthropic from '@anthropic-ai/sdk';
import { setSession, setUser } from '@arizeai/openinference-core';
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';
import { callAnthropic, callOpenAi } from './calls.js';

const [, , provider = 'openai'] = process.argv;
const isOpenAi = provider === 'openai';
const instrumentation = isOpenAi ? new OpenAIInstrumentation() : new AnthropicInstrumentation();
const sdk = new NodeSDK({
  serviceName: 'weather',
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [instrumentation],
});
sdk.start();
instrumentation.manuallyInstrument(isOpenAi ? OpenAI : Anthropic);

const attributes = { 'openinference.span.kind': 'CHAIN' };
const who = setSession(setUser(context.active(), { userId: 'user-42' }), { sessionId: 'thread-7' });
await trace.getTracer('weather').startActiveSpan('weather', { attributes }, who, async (root) => {
  if (isOpenAi) await callOpenAi(new OpenAI({ maxRetries: 0 }));
  else await callAnthropic(new Anthropic({ maxRetries: 0 }));
  root.end();
});
await sdk.shutdown();

/** LangChain.js with OpenInference's instrumentation. */

import { setSession, setUser } from '@arizeai/openinference-core';
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as callbacks from '@langchain/core/callbacks/manager';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { z } from 'zod';

const instrumentation = new LangChainInstrumentation();
const sdk = new NodeSDK({
  serviceName: 'weather',
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [instrumentation],
});
sdk.start();
instrumentation.manuallyInstrument(callbacks);

const forecast = tool(async () => 'rain', { name: 'forecast', schema: z.object({ city: z.string() }) });
const model = new ChatOpenAI({ model: 'gpt-5-mini', maxRetries: 0, streamUsage: true }).bindTools([forecast]);
const attributes = { 'openinference.span.kind': 'CHAIN' };
const who = setSession(setUser(context.active(), { userId: 'user-42' }), { sessionId: 'thread-7' });
await trace.getTracer('weather').startActiveSpan('weather', { attributes }, who, async (root) => {
  const messages = [new SystemMessage('Tell the weather.'), new HumanMessage('Rain in Oslo?')];
  const asked = await model.invoke(messages);
  const result = await forecast.invoke(asked.tool_calls[0]);
  for await (const _ of await model.stream([...messages, asked, result]));
  const broken = new ChatOpenAI({ model: 'broken', maxRetries: 0 });
  await broken.invoke(messages).catch(() => {});
  root.end();
});
await sdk.shutdown();

/** OpenLLMetry by Traceloop. */

import * as traceloop from '@traceloop/node-server-sdk';
import OpenAI from 'openai';
import { callOpenAi } from './calls.js';

traceloop.initialize({
  appName: 'weather',
  baseUrl: process.env.OTEL_EXPORTER_OTLP_ENDPOINT,
  apiKey: process.env.LANGWATCH_API_KEY,
  silenceInitializationMessage: true,
  traceloopSyncEnabled: false,
  instrumentModules: { openAI: OpenAI },
});
const properties = { user_id: 'user-42', session_id: 'thread-7' };
await traceloop.withAssociationProperties(properties, () =>
  traceloop.withWorkflow(
    { name: 'weather' },
    async (_question) => {
      await callOpenAi(new OpenAI({ maxRetries: 0 }));
      return 'It will rain.';
    },
    'Rain in Oslo?',
  ),
);
await traceloop.forceFlush();
process.exit();

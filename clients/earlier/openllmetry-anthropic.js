/** OpenLLMetry with the package of Anthropic, of which it knows version 0. */

import * as anthropic from '@anthropic-ai/sdk';
import * as traceloop from '@traceloop/node-server-sdk';
import { callAnthropic } from '../programs/calls.js';

traceloop.initialize({
  appName: 'weather',
  baseUrl: process.env.OTEL_EXPORTER_OTLP_ENDPOINT,
  apiKey: process.env.LANGWATCH_API_KEY,
  silenceInitializationMessage: true,
  traceloopSyncEnabled: false,
  instrumentModules: { anthropic },
});
const properties = { user_id: 'user-42', session_id: 'thread-7' };
await traceloop.withAssociationProperties(properties, () =>
  traceloop.withWorkflow(
    { name: 'weather' },
    async (_question) => {
      await callAnthropic(new anthropic.Anthropic({ maxRetries: 0 }));
      return 'It will rain.';
    },
    'Rain in Oslo?',
  ),
);
await traceloop.forceFlush();
process.exit();

/** Langfuse's SDK with its wrapper of the package of OpenAI. */

import { observeOpenAI } from '@langfuse/openai';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { propagateAttributes, startActiveObservation } from '@langfuse/tracing';
import { NodeSDK } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';
import { callOpenAi } from './calls.js';

const sdk = new NodeSDK({ serviceName: 'weather', spanProcessors: [new LangfuseSpanProcessor()] });
sdk.start();
await startActiveObservation(
  'weather',
  async (root) => {
    root.update({ input: 'Rain in Oslo?' });
    await propagateAttributes({ userId: 'user-42', sessionId: 'thread-7', tags: ['beta'] }, async () => {
      await callOpenAi(observeOpenAI(new OpenAI({ maxRetries: 0 })));
    });
    root.update({ output: 'It will rain.' });
  },
  { asType: 'agent' },
);
await sdk.shutdown();

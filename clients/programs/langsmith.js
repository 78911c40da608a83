/** LangSmith's SDK in its OpenTelemetry mode. */

import { initializeOTEL } from 'langsmith/experimental/otel/setup';
import { traceable } from 'langsmith/traceable';
import { wrapOpenAI } from 'langsmith/wrappers';
import OpenAI from 'openai';
import { callOpenAi } from './calls.js';

const { DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL();
const metadata = { userId: 'user-42', session_id: 'thread-7' };
const weather = traceable(
  async (_question) => {
    await callOpenAi(wrapOpenAI(new OpenAI({ maxRetries: 0 })));
    return 'It will rain.';
  },
  { name: 'weather', metadata, tags: ['beta'] },
);
await weather('Rain in Oslo?');
await processor.shutdown();

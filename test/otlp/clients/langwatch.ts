/** A retrieval pipeline instrumented with the LangWatch SDK. Prints the id of its trace. */

import { getLangWatchTracer } from 'langwatch';
import { setupObservability } from 'langwatch/observability/node';
import { nextMillisecond } from './next-millisecond.ts';

const { shutdown } = setupObservability({ serviceName: 'support-bot', debug: { logLevel: 'error' } });
const tracer = getLangWatchTracer('support-bot', '3.1.0');

const traceId = await tracer.withActiveSpan('answer question', async (root) => {
  root.setType('workflow');
  root.setInput('How do I reset my password?');
  root.setAttributes({
    'langwatch.user.id': 'user-42',
    'langwatch.thread.id': 'conversation-7',
    'langwatch.customer.id': 'customer-1',
    'langwatch.labels': JSON.stringify(['beta', 'support']),
    'langwatch.metadata': JSON.stringify({ plan: 'pro', seats: 3 }),
  });
  await tracer.withActiveSpan('find articles', async (span) => {
    span.setType('rag');
    span.setInput('reset password');
    span.setRAGContexts([{ document_id: 'article-1', chunk_id: 'chunk-1', content: 'Open the settings.' }]);
  });
  await nextMillisecond();
  await tracer.withActiveSpan('complete', async (span) => {
    span.setType('llm');
    span.setRequestModel('gpt-5-mini');
    span.setResponseModel('gpt-5-mini-2025-08-07');
    span.setInput('chat_messages', [
      { role: 'system', content: 'Help people.' },
      { role: 'user', content: 'How do I reset my password?' },
    ]);
    span.setOutput('chat_messages', [{ role: 'assistant', content: 'Open the settings.' }]);
    span.setMetrics({ promptTokens: 1000, completionTokens: 200, cost: 0.25 });
    span.addEvent('first_token');
    span.addEvent('langwatch.evaluation.custom', {
      json_encoded_event: JSON.stringify({
        name: 'Helpful',
        passed: true,
        score: 0.9,
        label: 'good',
        details: 'short',
      }),
    });
  });
  await nextMillisecond();
  await tracer
    .withActiveSpan('open ticket', async (span) => {
      span.setType('tool');
      throw new RangeError('no ticket system');
    })
    .catch(() => {});
  root.setOutput('Open the settings.');
  return root.spanContext().traceId;
});

await shutdown();
console.log(traceId);

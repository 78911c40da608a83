/** LangWatch's SDK. */

import { getLangWatchTracer } from 'langwatch';
import { setupObservability } from 'langwatch/observability/node';

const { shutdown } = setupObservability({ serviceName: 'weather' });
const tracer = getLangWatchTracer('weather');
const call = { id: 'call-1', type: 'function', function: { name: 'forecast', arguments: '{"city":"Oslo"}' } };
await tracer.withActiveSpan('weather', async (root) => {
  root.setType('agent');
  root.setAttributes({ 'langwatch.user.id': 'user-42', 'langwatch.thread.id': 'thread-7' });
  root.setInput('Rain in Oslo?');
  await tracer.withActiveSpan('chat gpt-5-mini', async (span) => {
    span.setType('llm');
    span.setRequestModel('gpt-5-mini');
    span.setInput('chat_messages', [{ role: 'user', content: 'Rain in Oslo?' }]);
    span.setOutput('chat_messages', [{ role: 'assistant', tool_calls: [call] }]);
    span.setMetrics({ promptTokens: 1000, completionTokens: 200 });
  });
  await tracer
    .withActiveSpan('forecast', async (span) => {
      span.setType('tool');
      throw new Error('the model is down');
    })
    .catch(() => {});
  root.setOutput('It will rain.');
});
await shutdown();

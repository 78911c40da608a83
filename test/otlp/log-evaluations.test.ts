import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { attributes, exportOf, id, readTrace, send } from './sending.ts';
import { logsOf, type RecordInit, sendLogs } from './sending-logs.ts';

const NANO = BigInt(Date.now()) * 1_000_000n;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

function collectEvaluations(traceId: string, evaluations: readonly object[]) {
  return callRest(app.address, {
    verb: 'POST',
    path: '/api/collector',
    headers: { 'x-auth-token': app.projectKey },
    body: { trace_id: traceId, spans: [], evaluations },
  });
}

it('a record that joins a span brings its own evaluations, and puts back none of the span', async () => {
  const [traceId, spanId] = [hex(32), hex(16)];
  const first = { evaluation_id: 'e1', name: 'quality', score: 0.1 };
  const event = {
    name: 'langwatch.evaluation.custom',
    timeUnixNano: NANO,
    attributes: attributes({ json_encoded_event: JSON.stringify(first) }),
  };
  const span = { traceId: id(traceId), spanId: id(spanId), name: 'chat', startTimeUnixNano: NANO, events: [event] };
  await send(app, 'protobuf', exportOf([span]));
  await collectEvaluations(traceId, [{ ...first, score: 0.9 }]);
  const record = (more: RecordInit): RecordInit => ({ traceId: id(traceId), spanId: id(spanId), ...more });
  const message = record({ eventName: 'gen_ai.user.message', attributes: attributes({ content: 'Rain?' }) });
  const result = record({
    eventName: 'gen_ai.evaluation.result',
    attributes: attributes({ 'gen_ai.evaluation.name': 'relevance', 'gen_ai.evaluation.score.value': 0.5 }),
  });
  for (const each of [message, result]) await sendLogs(app, 'protobuf', logsOf([each]));
  const { spans, evaluations } = await readTrace(app, traceId);
  expect(spans[0].events).toHaveLength(3);
  const scores = evaluations.map(({ name, score }: { name: string; score: number }) => [name, score]);
  expect(Object.fromEntries(scores)).toEqual({ quality: 0.9, relevance: 0.5 });

  // One that joined before stays as it was replaced when another joins.
  const [{ evaluation_id: relevanceId }] = evaluations.filter(({ name }: { name: string }) => name === 'relevance');
  await collectEvaluations(traceId, [{ evaluation_id: relevanceId, name: 'relevance', score: 0.7 }]);
  const later = record({ eventName: 'gen_ai.user.message', attributes: attributes({ content: 'And snow?' }) });
  await sendLogs(app, 'protobuf', logsOf([later]));
  const again = await readTrace(app, traceId);
  expect(again.spans[0].events).toHaveLength(4);
  expect(again.evaluations).toContainEqual(expect.objectContaining({ name: 'relevance', score: 0.7 }));
});

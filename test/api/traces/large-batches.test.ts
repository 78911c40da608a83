/** Requests whose traces do not all fit into the queue of the store at once. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { callRest } from '../../support/surfaces.ts';

const TRACES = 100;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_INGEST_QUEUE_BYTES: '1048576' } });
});
afterAll(async () => {
  await app.close();
});

it('are stored as a whole: a sender that tries again would only meet its own traces again', async () => {
  const spans = Array.from({ length: TRACES }, () => ({
    ...{ traceId: hex(32), spanId: hex(16), name: 'step' },
    ...{ startTimeUnixNano: `${Date.now()}000000`, endTimeUnixNano: `${Date.now()}000000` },
  }));
  // A resource is stored with each span.
  const attributes = [{ key: 'service.blob', value: { stringValue: 'x'.repeat(50_000) } }];
  const body = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
  const headers = { 'x-auth-token': app.projectKey };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/otel/v1/traces', body, headers });
  expect([answer.status, answer.body]).toEqual([200, {}]);
  const found = await Promise.all(
    spans.map(({ traceId }) => callRest(app.address, { verb: 'GET', path: `/api/traces/${traceId}`, headers })),
  );
  expect(found.filter(({ status }) => status === 200)).toHaveLength(TRACES);
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { callRest, expectEverywhere } from '../../support/surfaces.ts';
import { createClient } from './evaluations-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_EVALUATOR_THREADS: '1', SPANDREL_EVALUATOR_TIMEOUT_MS: '60000', SPANDREL_DRAIN_MS: '100' },
  });
});
afterAll(() => app.close());

const client = createClient(() => app);

/** One runs, and a quarter of the queue waits. */
const ADMITTED = 1 + 64;
const ENDLESS = { data: { contexts: ['a'.repeat(60_000)], expected_contexts: ['b'.repeat(60_000)] } };
const SECRETS = 'langwatch/api_keys_and_secrets_detection';
const SECRET = { data: { output: 'AKIAIOSFODNN7EXAMPLE' }, trace_id: 'overload-1', on_error: 'pass' };

it('a guardrail that cannot be run because too many wait is told to try again, never passed, and leaves no result', async () => {
  const endless = { ...ENDLESS, as_guardrail: true };
  const path = '/api/evaluations/ragas/context_f1/evaluate';
  const asked = Array.from({ length: ADMITTED + 1 }, () =>
    callRest(app.address, { verb: 'POST', path, headers: client.key(), body: endless }),
  );
  const refused = await Promise.race(asked);
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
  const guardrail = { ...SECRET, as_guardrail: true };
  await expectEverywhere(app.address, client.run(SECRETS, guardrail, { status: 503, code: 'unavailable' }));
  const trace = await callRest(app.address, { path: '/api/traces/overload-1', headers: client.key() });
  expect(trace.status).toBe(404);
  await app.stop();
  const answers = await Promise.allSettled(asked);
  // A stop does not let them pass either.
  for (const end of answers) if (end.status === 'fulfilled') expect(end.value.status).toBe(503);
});

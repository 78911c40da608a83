/** The published SDK, unmodified, against a running server. */

import { type ContextManager, context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { LangWatch } from 'langwatch';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { createClient as createEvaluatorClient } from '../evaluators/evaluators-client.ts';
import { createClient } from './evaluations-client.ts';

let app: TestApp;
let langwatch: LangWatch;
beforeAll(async () => {
  app = await startApp();
  langwatch = new LangWatch({ apiKey: app.projectKey, endpoint: app.address });
});
afterAll(async () => {
  await app.close();
});

const client = createClient(() => app);
const evaluators = createEvaluatorClient(() => app);

it('langwatch evaluates with a type of the catalogue and with a saved evaluator', async () => {
  const data = { output: 'Paris', expected_output: 'paris' };
  const wanted = { status: 'processed', passed: true, score: 1 };
  expect(await langwatch.evaluations.evaluate('langevals/exact_match', { data, name: 'Same' })).toMatchObject(wanted);
  const { slug } = await evaluators.create('Strict', {
    evaluatorType: 'langevals/exact_match',
    settings: { case_sensitive: true },
  });
  expect(await langwatch.evaluations.evaluate(slug, { data })).toMatchObject({ ...wanted, passed: false, score: 0 });
  const settings = { case_sensitive: false };
  expect(await langwatch.evaluations.evaluate(slug, { data, settings })).toMatchObject(wanted);
});

it('langwatch runs guardrails', async () => {
  const data = { output: `the key is ghp_${'a'.repeat(36)}` };
  const guard = 'langwatch/api_keys_and_secrets_detection';
  const answer = await langwatch.evaluations.evaluate(guard, { data, asGuardrail: true });
  expect(answer).toMatchObject({ status: 'processed', passed: false, score: 1 });
  expect(answer.details).toContain('github_token');
});

it('langwatch reports an evaluator that does not exist', async () => {
  await expect(langwatch.evaluations.evaluate('nobody', { data: {} })).rejects.toThrow('nobody');
});

/** Makes the span the active one. */
function inside(span: Span): ContextManager {
  const active = trace.setSpan(ROOT_CONTEXT, span);
  const manager: ContextManager = {
    active: () => active,
    with: (_, run, self, ...given) => run.call(self as ThisParameterType<typeof run>, ...given),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

it('what langwatch evaluates inside a span is on its trace', async () => {
  const traceId = 'abcdefabcdefabcdefabcdefabcdef12';
  const spanId = 'abcdefabcdef1234';
  context.setGlobalContextManager(inside(trace.wrapSpanContext({ traceId, spanId, traceFlags: 1 })));
  try {
    const data = { output: 'a', expected_output: 'a' };
    await langwatch.evaluations.evaluate('langevals/exact_match', { data });
  } finally {
    context.disable();
  }
  const [stored] = await client.evaluationsOf(traceId);
  expect(stored).toMatchObject({ span_id: spanId, passed: true, name: 'Exact Match Evaluator' });
});

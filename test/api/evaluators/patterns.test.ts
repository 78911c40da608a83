import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { createClient as createEvaluationClient } from '../evaluations/evaluations-client.ts';
import { createClient, createEvaluator } from './evaluators-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const client = createClient(() => app);
const evaluations = createEvaluationClient(() => app);

const settingsOf = (value: string) => ({ rules: [{ field: 'output', rule: 'matches_regex', value }] });
const configOf = (value: string) => ({ evaluatorType: 'langevals/basic', settings: settingsOf(value) });

const BAD = ['(?=a)b', '(?<!a)b', String.raw`(a)\1`, '(a'];

describe('a pattern that RE2 does not know', () => {
  it.each(BAD)('%s is refused when an evaluator is saved', async (value) => {
    const config = configOf(value);
    const headers = client.key();
    const rest = await callRest(app.address, {
      verb: 'POST',
      path: '/api/evaluators',
      body: { name: 'Bad', config },
      headers,
    });
    expect([rest.status, rest.body.code]).toEqual([422, 'validation_error']);
    expect(rest.text).toContain('config.settings.rules.0.value must be a pattern of RE2');
    const request = { name: 'Bad', configJson: JSON.stringify(config) };
    const rpc = await callRpc(app.address, { method: createEvaluator, headers, request });
    expect(rpc.ok).toBe(false);
  });

  it('is refused when an evaluator is changed, which stays as it was', async () => {
    const saved = await client.create('Good', configOf('^b$'));
    const change = { config: { settings: settingsOf('(?=a)b') } };
    await expectEverywhere(app.address, client.update(saved.id, change, { status: 422, code: 'validation_error' }));
    await expectEverywhere(
      app.address,
      client.get(saved.id, { status: 200, check: (body) => expect(body.config).toEqual(saved.config) }),
    );
  });

  it('is refused when it comes with a run', async () => {
    const body = { data: { output: 'ab' }, settings: settingsOf('(?=a)b') };
    const expected = {
      status: 422,
      code: 'invalid_settings',
      check: ({ message }: { message: string }) =>
        expect(message).toMatch(/^Invalid settings for langevals\/basic evaluator: rules\.0\.value: must be a pattern/),
    };
    await expectEverywhere(app.address, evaluations.run('langevals/basic', body, expected));
  });
});

it('a pattern that makes others backtrack is over in a moment', async () => {
  const body = { data: { output: `${'a'.repeat(100_000)}!` }, settings: settingsOf('(a+)+$') };
  await expectEverywhere(
    app.address,
    evaluations.run('langevals/basic', body, { status: 200, check: ({ passed }) => expect(passed).toBe(false) }),
  );
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { llmTrace } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { runScript } from './run-client.ts';

const PAGE = readFileSync(new URL('../../docs/langwatch.md', import.meta.url), 'utf8');
const MANIFEST = new URL('../../node_modules/langwatch/package.json', import.meta.url);

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

/** Runs an expression with the unmodified package; returns its result. */
async function ask(expression: string) {
  const code = `
    import { LangWatch } from 'langwatch';
    const langwatch = new LangWatch();
    const told = await (${expression}).catch((error) => ({ failed: String(error.message) }));
    console.log(JSON.stringify(told ?? null));
    process.exit(0);`;
  const to = { address: app.address, key: app.projectKey, openAiUrl: '' };
  return JSON.parse(await runScript(['--input-type=module', '--eval', code], to));
}

describe("the LangWatch SDK's calls", () => {
  it('are those of the version that the page is about', () => {
    const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
    expect(PAGE).toContain(`\`langwatch\` ${version}`);
  });

  it('read a trace by its id', async () => {
    const body = llmTrace(Date.now());
    const headers = { 'x-auth-token': app.projectKey };
    await callRest(app.address, { verb: 'POST', path: '/api/collector', headers, body });
    expect(await ask(`langwatch.traces.get('${body.trace_id}', {})`)).toMatchObject({
      trace_id: body.trace_id,
      metrics: { prompt_tokens: 100, completion_tokens: 150, total_cost: 0.001625 },
      spans: [{ type: 'llm', model: 'gpt-5' }],
    });
  });

  it('run an evaluator that is built in', async () => {
    const data = "{ data: { output: 'Oslo', expected_output: 'Oslo' }, name: 'capital' }";
    expect(await ask(`langwatch.evaluations.evaluate('langevals/exact_match', ${data})`)).toMatchObject({
      status: 'processed',
      passed: true,
    });
  });

  it.each(["prompts.get('greeting')", "datasets.get('unknown')"])(
    'for what there is not here fail with a reason: %s',
    async (call) => {
      expect(await ask(`langwatch.${call}`)).toEqual({ failed: expect.stringMatching(/not.found|404|no such/i) });
    },
  );
});

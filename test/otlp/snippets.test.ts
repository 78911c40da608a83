import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../clients/provider.ts';
import { SNIPPETS } from '../../clients/snippets.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { runScript } from './run-client.ts';
import { readTrace } from './sending.ts';

/** Their packages are installed here. `npm run clients` runs all snippets, with the newest packages. */
const RUN_HERE = ['JavaScript', 'OpenInference', 'LangWatch SDK'];

let app: TestApp;
let openAi: Provider;
const stored: string[] = [];
beforeAll(async () => {
  openAi = await startProvider();
  app = await startApp({
    wrapStore: (store) => ({
      ...store,
      traces: {
        ...store.traces,
        append(append) {
          stored.push(append.traceId);
          return store.traces.append(append);
        },
      },
    }),
  });
});
afterAll(async () => {
  openAi.close();
  await app.close();
});

it('the page has a snippet for each ecosystem of npm', () => {
  expect([...SNIPPETS.keys()]).toEqual(['JavaScript', 'Vercel AI SDK', 'OpenInference', 'LangWatch SDK']);
});

it.each(RUN_HERE.map((name) => [name, SNIPPETS.get(name) ?? '']))(
  'the snippet for %s sends a call with model, tokens and cost',
  async (_, code) => {
    stored.length = 0;
    const to = { address: app.address, key: app.projectKey, openAiUrl: openAi.address };
    await runScript(['--input-type=module', '--eval', code], to);
    expect(new Set(stored).size).toBe(1);
    expect(await readTrace(app, stored[0] ?? '')).toMatchObject({
      models: expect.arrayContaining([expect.stringMatching(/^gpt-5-mini/)]),
      metrics: { prompt_tokens: 1000, completion_tokens: 200, total_cost: expect.any(Number) },
    });
  },
);

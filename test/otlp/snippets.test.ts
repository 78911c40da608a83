import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { type StandIn, startOpenAiStandIn } from './openai-stand-in.ts';
import { runScript } from './run-client.ts';
import { readTrace } from './sending.ts';

const PAGE = readFileSync(new URL('../../docs/opentelemetry.md', import.meta.url), 'utf8');
const SNIPPETS = [...PAGE.matchAll(/^## ([^\n]+)\n(?:(?!^## ).)*?^```js\n(.*?)^```/gms)];

let app: TestApp;
let openAi: StandIn;
const stored: string[] = [];
beforeAll(async () => {
  openAi = await startOpenAiStandIn();
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
  const names = SNIPPETS.map(([, name]) => name);
  expect(names).toEqual(['JavaScript', 'Vercel AI SDK', 'OpenInference', 'LangWatch SDK']);
});

it.each(SNIPPETS.map(([, name = '', code = '']) => [name, code]))(
  'the snippet for %s sends a call with model, tokens and cost',
  async (_, code) => {
    stored.length = 0;
    const to = { address: app.address, key: app.projectKey, openAiUrl: openAi.url };
    await runScript(['--input-type=module', '--eval', code], to);
    expect(new Set(stored).size).toBe(1);
    expect(await readTrace(app, stored[0] ?? '')).toMatchObject({
      models: expect.arrayContaining([expect.stringMatching(/^gpt-5-mini/)]),
      metrics: { prompt_tokens: 1000, completion_tokens: 200, total_cost: expect.any(Number) },
    });
  },
);

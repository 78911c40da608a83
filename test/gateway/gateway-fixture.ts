/** A server with a model provider that tests script, and a virtual key. */

import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { startApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { type MockProvider, type MockStep as Step, startMockProvider } from '../support/mock-provider.ts';
import { callRest } from '../support/surfaces.ts';

export const MODEL = 'gpt-4o-mini';
export const CLAUDE = 'claude-sonnet-4-5';
export const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Say hello.' }] };
export const MESSAGES = { model: CLAUDE, max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] };

const ROUNDS_MAX = 400;
const ROUND_MS = 10;

type Json = Awaited<ReturnType<typeof callRest>>['body'];

export type Sent = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined unless it is JSON. */
  readonly body: Json;
};

export type GatewayFixture = Awaited<ReturnType<typeof startGateway>>;

export async function startGateway(options: TestAppOptions = {}) {
  const mock = await startMockProvider();
  const environment = { SPANDREL_GATEWAY_ALLOW: '127.0.0.1', ...options.environment };
  const app = await startApp({ ...options, environment });
  const kit = gatewayKit(app, mock);
  const openai = await kit.addProvider({ name: 'openai', kind: 'openai_compatible' });
  const anthropic = await kit.addProvider({ name: 'anthropic', kind: 'anthropic' });
  const { id, secret } = await kit.addKey();
  return {
    ...{ app, mock, openai, anthropic, keyId: id, secret },
    ...kit,
    /** What a budget has in the store, also after a stop of the server; in nano-USD. */
    async sumsOf(budget: Json): Promise<{ readonly spent: number; readonly leased: number }> {
      const { organizationNumber = 0 } = (await app.store.keys.findProject(app.projectId)) ?? {};
      const period = { budgetId: budget.id, periodStartedAtMs: Date.parse(budget.period_started_at) };
      const [sums] = await app.store.budgets.sums(organizationNumber, [period]);
      return { spent: Number(sums?.spentNanoUsd), leased: Number(sums?.leasedNanoUsd) };
    },
    async close(): Promise<void> {
      await app.close();
      await mock.close();
    },
  };
}

export function gatewayKit(
  app: Pick<TestApp, 'address' | 'adminKey' | 'projectId' | 'projectKey'>,
  mock: MockProvider,
) {
  const admin = { authorization: `Bearer ${app.adminKey}` };

  async function manage(verb: string, path: string, body?: object): Promise<Json> {
    const request = { verb, path, headers: admin, ...(body === undefined ? {} : { body }) };
    const answer = await callRest(app.address, request);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  }

  let keys = 0;
  return {
    manage,
    async addProvider(provider: object): Promise<string> {
      const body = { base_url: mock.url, api_key: 'sk-of-the-provider-1234', ...provider };
      return (await manage('POST', '/api/gateway/v1/model-providers', body)).model_provider.id;
    },
    async addKey(key: object = {}): Promise<{ readonly id: string; readonly secret: string }> {
      keys += 1;
      const body = { name: `key ${keys}`, trace_project_id: app.projectId, ...key };
      const made = await manage('POST', '/api/gateway/v1/virtual-keys', body);
      return { id: made.virtual_key.id, secret: made.secret };
    },
    async addEvaluator(evaluatorType: string, settings: object): Promise<string> {
      const body = { name: evaluatorType, config: { evaluatorType, settings } };
      const headers = { 'x-auth-token': app.projectKey };
      const made = await callRest(app.address, { verb: 'POST', path: '/api/evaluators', body, headers });
      expect(made.status, made.text).toBeLessThan(300);
      return made.body.id;
    },
    async addBudget(budget: object): Promise<Json> {
      const body = { name: 'budget', window: 'total', ...budget };
      return (await manage('POST', '/api/gateway/v1/budgets', body)).budget;
    },
    budget: async (id: string): Promise<Json> => (await manage('GET', `/api/gateway/v1/budgets/${id}`)).budget,
    /** The event of a request, which is stored soon after its answer. */
    async eventOf(sent: Sent): Promise<Json> {
      const id = encodeURIComponent(`${sent.headers.get('x-langwatch-gateway-request-id')}:completed`);
      const read = () => callRest(app.address, { verb: 'GET', path: `/api/webhooks/v1/events/${id}`, headers: admin });
      return (await eventually(read)).body.data.data;
    },
    async traceOf(sent: Sent): Promise<Json> {
      const path = `/api/traces/${sent.headers.get('x-langwatch-trace-id')}`;
      const headers = { 'x-auth-token': app.projectKey };
      return (await eventually(() => callRest(app.address, { verb: 'GET', path, headers }))).body;
    },
    /** `step`: how the provider answers, see MockStep. */
    async send(path: string, { secret, body, headers = {}, step, verb = 'POST' }: Sending): Promise<Sent> {
      if (step !== undefined) mock.next(...(isList(step) ? step : [step]));
      const answer = await fetch(app.address + path, {
        method: verb,
        redirect: 'manual',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
      return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
    },
  };
}

type Answer = Awaited<ReturnType<typeof callRest>>;

async function eventually(read: () => Promise<Answer>): Promise<Answer> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const answer = await read();
    if (answer.status === 200) return answer;
    await wait(ROUND_MS);
  }
  throw new Error('it was not stored in time');
}

type Sending = {
  readonly secret: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly step?: Step | readonly Step[];
  readonly verb?: string;
};

function isList(step: Step | readonly Step[]): step is readonly Step[] {
  return Array.isArray(step);
}

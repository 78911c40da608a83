/** A shop for pictures: traces of thirty days, evaluations, experiments, keys and webhooks, sent as applications send them. */

const HOUR_MS = 3_600_000;
const TRACES = 420;
const RUN_ENTRIES = 24;

export type Shop = { readonly address: string; readonly adminKey: string; readonly projectKey: string };

/** Equal seeds give equal numbers, so that pictures change only when the console does. */
function createDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const dice = createDice(42);
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(dice() * items.length)] as Item;

const QUESTIONS = [
  ['Where is my parcel A-1042?', 'It left the depot in **Hamburg** this morning and arrives tomorrow before noon.'],
  ['Can I return shoes I wore once?', 'Yes. You have *30 days*, and the label is in your account.'],
  ['Which plan fits a team of five?', 'The Team plan: it includes five seats and shared inboxes.'],
  ['I was charged twice for order 8841', 'I refunded the second charge of $24.90. It shows within three days.'],
  ['Do you ship to Norway?', 'We do. Delivery takes four to six days and customs are included.'],
  ['Cancel my subscription', 'Done. It ends on the last day of this month.'],
] as const;
const MODELS = ['gpt-5', 'gpt-5-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro'] as const;
const VENDORS = { g: 'openai', c: 'anthropic' } as const;
const PEOPLE = ['ada', 'grace', 'linus', 'margaret', 'alan', 'barbara', 'edsger', 'katherine', 'dennis'] as const;

function traceOf(index: number, startedAt: number) {
  const [question, answer] = pick(QUESTIONS);
  const model = pick(MODELS);
  const lengthMs = 700 + dice() ** 3 * 14_000;
  const at = (part: number) => Math.round(startedAt + lengthMs * part);
  const id = (name: string) => `${name}-${index}`;
  const hasFailed = dice() < 0.06;
  const person = pick(PEOPLE);
  return {
    trace_id: id('trace'),
    metadata: {
      user_id: person,
      thread_id: `chat-${person}-${index % 7}`,
      customer_id: pick(['acme', 'globex', 'initech']),
      labels: [pick(['support', 'billing', 'shipping'])],
    },
    spans: [
      {
        type: 'agent',
        span_id: id('agent'),
        name: 'support-agent',
        input: { type: 'text', value: question },
        output: { type: 'text', value: answer },
        timestamps: { started_at: at(0), finished_at: at(1) },
      },
      {
        type: 'rag',
        span_id: id('rag'),
        parent_id: id('agent'),
        name: 'search help center',
        contexts: [{ document_id: 'returns', content: 'Shoes can be returned within thirty days.' }],
        timestamps: { started_at: at(0.02), finished_at: at(0.18) },
      },
      {
        type: 'tool',
        span_id: id('tool'),
        parent_id: id('agent'),
        name: 'look_up_order',
        input: { type: 'json', value: { order: 'A-1042' } },
        output: { type: 'json', value: { state: 'in transit', depot: 'Hamburg' } },
        timestamps: { started_at: at(0.2), finished_at: at(0.42) },
        ...(hasFailed && {
          error: { message: 'The carrier did not answer within 5 s', stacktrace: ['at track (carrier.ts:40)'] },
        }),
      },
      {
        type: 'llm',
        span_id: id('llm'),
        parent_id: id('agent'),
        name: 'write the answer',
        vendor: VENDORS[model[0] as 'g' | 'c'],
        model,
        input: {
          type: 'chat_messages',
          value: [
            { role: 'system', content: 'You are a friendly support agent. Answer in one or two sentences.' },
            { role: 'user', content: question },
          ],
        },
        output: { type: 'chat_messages', value: [{ role: 'assistant', content: answer }] },
        params: { temperature: 0.2 },
        metrics: { prompt_tokens: 900 + Math.round(dice() * 9_000), completion_tokens: 60 + Math.round(dice() * 700) },
        timestamps: { started_at: at(0.44), first_token_at: at(0.55), finished_at: at(0.97) },
      },
    ],
  };
}

/** Fills the server, and returns what has a page of its own. */
export async function fillShop(shop: Shop, nowMs: number) {
  const call = async (verb: string, path: string, key: string, body?: object) => {
    const answer = await fetch(`${shop.address}${path}`, {
      method: verb,
      headers: { 'x-auth-token': key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${verb} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const post: Post = (path, body) => call('POST', path, shop.projectKey, body);
  const projects = await call('GET', '/api/projects', shop.adminKey);
  const project = projects.data[0];
  await call('PATCH', `/api/projects/${project.id}`, shop.adminKey, { name: 'Support Copilot' });
  const evaluators = await makeEvaluators(post);
  for (let index = 0; index < TRACES; index += 1) {
    const hoursAgo = dice() ** 1.4 * 24 * 30;
    await post('/api/collector', traceOf(index, nowMs - 60_000 - hoursAgo * HOUR_MS));
  }
  const experiments = await logRuns(post, nowMs);
  const organization = await makeOrganization(project, (path, body) => call('POST', path, shop.adminKey, body));
  return { slug: project.slug as string, ...evaluators, ...experiments, ...organization };
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of many routes
type Post = (path: string, body: object) => Promise<any>;

async function makeEvaluators(post: Post) {
  const evaluator = (name: string, evaluatorType: string, settings: object) =>
    post('/api/evaluators', { name, config: { evaluatorType, settings } });
  const secrets = await evaluator('Secrets', 'langwatch/api_keys_and_secrets_detection', {});
  const polite = await evaluator('Mentions a day', 'langevals/basic', {
    rules: [{ field: 'output', rule: 'matches_regex', value: '(?i)day|month|morning' }],
  });
  const json = await evaluator('Valid JSON', 'langevals/valid_format', { format: 'json' });
  const monitor = (name: string, evaluatorId: string, more: object = {}) =>
    post('/api/monitors', { name, evaluatorId, ...more });
  const mentions = await monitor('Mentions a day', polite.id);
  const onSecrets = await monitor('Secrets on all traffic', secrets.id);
  await monitor('JSON answers', json.id, { sample: 0.25 });
  // The server has no model to ask, so every evaluation of this one is skipped.
  const judge = await evaluator('Helpful', 'langevals/llm_boolean', {});
  const failing = await monitor('Helpful answers', judge.id);
  return {
    evaluatorId: polite.id as string,
    monitorId: mentions.id as string,
    secretsId: onSecrets.id as string,
    failingId: failing.id as string,
  };
}

async function logRuns(post: Post, nowMs: number) {
  const { slug } = await post('/api/experiment/init', { experiment_name: 'Shorter prompt' });
  for (const [run_id, name, chance] of [
    ['baseline', 'Today’s prompt', 0.6],
    ['shorter', 'Shorter prompt', 0.95],
  ] as const) {
    const passes = Array.from({ length: RUN_ENTRIES }, () => dice() < chance);
    await post('/api/evaluations/batch/log_results', {
      experiment_slug: slug,
      run_id,
      name,
      dataset: passes.map((_, index) => ({
        index,
        entry: { question: QUESTIONS[index % 6]?.[0], customer: 'acme', notes: 'Be brief.\nName a day.' },
        predicted: { output: QUESTIONS[index % 6]?.[1] },
        cost: 0.002 + dice() * 0.004,
        duration: 900 + dice() * 2_000,
      })),
      evaluations: passes.map((passed, index) => ({
        index,
        evaluator: 'mentions_a_day',
        score: passed ? 1 : 0,
        passed,
      })),
      timestamps: { created_at: nowMs - 2 * HOUR_MS, finished_at: nowMs - HOUR_MS },
    });
  }
  const entries = QUESTIONS.map(([input, expected_output]) => ({ input, expected_output }));
  const dataset = await post('/api/dataset', { name: 'Support questions', entries });
  return { experiment: slug as string, datasetId: dataset.id as string };
}

async function makeOrganization(project: { readonly id: string; readonly teamId: string }, post: Post) {
  const endpoint = await post('/api/webhooks/v1/endpoints', {
    url: 'https://hooks.example.com/spandrel',
    enabled_events: ['*'],
  });
  const member = await post('/api/organization/members', {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    role: 'MEMBER',
  });
  await post('/api/role-bindings', {
    userId: member.userId,
    role: 'ADMIN',
    scopeType: 'TEAM',
    scopeId: project.teamId,
  });
  await post('/api/api-keys', { name: 'deploy', keyType: 'service' });
  await post('/api/gateway/v1/model-providers', {
    name: 'OpenAI',
    kind: 'openai',
    api_key: 'sk-picture-0123456789abcdefWXYZ',
  });
  const made = await post('/api/gateway/v1/virtual-keys', {
    name: 'Support bot',
    trace_project_id: project.id,
    labels: ['production'],
    budget: { window: 'month', limit_usd: '250' },
  });
  const key = made.virtual_key.id as string;
  await post('/api/gateway/v1/requests', {
    records: Array.from({ length: 40 }, (_, index) => ({
      gateway_request_id: `request-${index}`,
      status: index % 9 === 4 ? 'error' : 'success',
      project_id: project.id,
      virtual_key_id: key,
      model: pick(MODELS),
      cost_usd: (dice() * 4).toFixed(4),
      occurred_at: Date.now() - index * HOUR_MS,
    })),
  });
  return { endpointId: endpoint.data.id as string, virtualKeyId: key };
}

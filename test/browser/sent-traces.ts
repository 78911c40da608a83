/** Traces as applications send them, for the console to show. */

type Sender = { readonly address: string; readonly projectKey: string };

export function send(sender: Sender, body: unknown): Promise<void> {
  return sendText(sender, JSON.stringify(body));
}

export async function sendText({ address, projectKey }: Sender, body: string): Promise<void> {
  const headers = { 'x-auth-token': projectKey, 'content-type': 'application/json' };
  const answer = await fetch(`${address}/api/collector`, { method: 'POST', body, headers });
  if (answer.status !== 200) throw new Error(`refused: ${await answer.text()}`);
}

const QUESTIONS = [
  'Where is my parcel?',
  'Can I return shoes that I wore once?',
  'What is the difference between the two plans?',
  'Summarise the attached contract',
  'Which of these invoices are overdue?',
  'Draft an answer to the landlord',
];
const MODELS = ['gpt-5', 'gpt-5-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro'];

/** `index` makes the trace unique; a slow trace takes forty seconds. */
export function shopTrace(index: number, startedAt: number, isSlow = false) {
  const lengthMs = isSlow ? 40_000 : 600 + ((index * 379) % 5_200);
  const model = MODELS[index % MODELS.length] ?? 'gpt-5';
  const question = QUESTIONS[index % QUESTIONS.length] ?? '';
  const at = (part: number) => startedAt + Math.round(lengthMs * part);
  const id = (name: string) => `${name}-${index}`;
  const failed = index % 17 === 5;
  return {
    trace_id: id(isSlow ? 'slow' : 'shop'),
    metadata: { user_id: `user-${index % 9}`, thread_id: `thread-${index % 20}`, labels: ['shop'], region: 'eu' },
    spans: [
      {
        type: 'agent',
        span_id: id('agent'),
        name: isSlow ? 'research the order' : 'answer the customer',
        input: { type: 'text', value: question },
        output: { type: 'text', value: 'Your parcel is at the depot and comes tomorrow before noon.' },
        timestamps: { started_at: at(0), finished_at: at(1) },
        ...(failed && {
          error: {
            message: 'The carrier did not answer in time',
            stacktrace: ['at ask (carrier.ts:40)', 'at run (agent.ts:12)'],
          },
        }),
      },
      {
        type: 'rag',
        span_id: id('find'),
        parent_id: id('agent'),
        name: 'find documents',
        contexts: [{ document_id: 'terms', content: 'Shoes can be returned within thirty days.' }],
        timestamps: { started_at: at(0.02), finished_at: at(0.15) },
      },
      {
        type: 'llm',
        span_id: id('plan'),
        parent_id: id('agent'),
        name: 'plan',
        vendor: 'openai',
        model: 'gpt-5-mini',
        input: { type: 'chat_messages', value: [{ role: 'user', content: question }] },
        output: {
          type: 'chat_messages',
          value: [
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: 'call_1',
                  type: 'function',
                  function: { name: 'look_up_order', arguments: '{"order":"A-1042"}' },
                },
              ],
            },
          ],
        },
        metrics: { prompt_tokens: 420, completion_tokens: 36 },
        timestamps: { started_at: at(0.16), first_token_at: at(0.2), finished_at: at(0.32) },
      },
      {
        type: 'tool',
        span_id: id('order'),
        parent_id: id('plan'),
        name: 'look_up_order',
        input: { type: 'json', value: { order: 'A-1042' } },
        output: {
          type: 'json',
          value: { state: 'at the depot', due: '2026-11-23', parcels: [{ weight: 1.2 }, { weight: 0.4 }] },
        },
        timestamps: { started_at: at(0.33), finished_at: at(0.5) },
      },
      {
        type: 'llm',
        span_id: id('write'),
        parent_id: id('agent'),
        name: 'write the answer',
        vendor: model.startsWith('gpt') ? 'openai' : model.startsWith('claude') ? 'anthropic' : 'google',
        model,
        input: {
          type: 'chat_messages',
          value: [
            { role: 'system', content: 'Answer in one sentence.' },
            { role: 'user', content: question },
          ],
        },
        output: {
          type: 'chat_messages',
          value: [{ role: 'assistant', content: 'Your parcel is at the depot and comes tomorrow before noon.' }],
        },
        params: { temperature: 0.2, stream: true },
        metrics: { prompt_tokens: isSlow ? 92_000 : 1_800 + index, completion_tokens: isSlow ? 4_100 : 90 + index },
        timestamps: { started_at: at(0.52), first_token_at: at(0.6), finished_at: at(0.98) },
      },
    ],
    evaluations: [
      {
        name: 'Answers the question',
        passed: index % 4 !== 1,
        score: 0.5 + (index % 5) / 10,
        details: 'Judged by hand.',
      },
    ],
  };
}

/** Sends `count` traces, one of them slow. The last one is the newest. */
export async function sendShop(sender: Sender, nowMs: number, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await send(sender, shopTrace(index, nowMs - (count - index) * 61_000, index === Math.floor(count / 2)));
  }
}

/** One trace of many spans, with a realistic width and depth. */
export function longTrace(traceId: string, count: number, startedAt: number) {
  return {
    trace_id: traceId,
    spans: Array.from({ length: count }, (_, index) => ({
      type: index % 5 === 1 ? 'llm' : 'tool',
      span_id: `step-${index}`,
      ...(index > 0 && { parent_id: `step-${index % 10 === 0 ? 0 : index - (index % 10)}` }),
      name: `step ${index}`,
      timestamps: { started_at: startedAt + index, finished_at: startedAt + index + 40 },
    })),
  };
}

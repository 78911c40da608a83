/** Runs of agents as applications send them, with conversations of all kinds. */

/** One grey pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const ANSWER = `## Your order

The parcel of order **A-1042** is *late*:

| stop | day |
| --- | ---: |
| depot | 12 |
| van | 13 |

1. Wait until noon.
2. Then call [the carrier](https://carrier.test/call).

\`\`\`python
def due(order):
    return order["due"]  # a date
\`\`\``;

const SYSTEM = `You help customers of a shop. ${'Be polite and precise. '.repeat(30)}`;

/** An agent whose three calls each repeat all that was said before, and whose tool answers the first and fails the second. */
export function agentRun(traceId: string, startedAt: number) {
  const at = (second: number) => startedAt + 1_000 * second;
  const call = (id: string, order: string) => ({
    id,
    type: 'function',
    function: { name: 'look_up_order', arguments: JSON.stringify({ order }) },
  });
  const first = [
    { role: 'system', content: SYSTEM },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where is my parcel? See the picture.' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: 'image_url', image_url: { url: 'https://elsewhere.test/label.png' } },
      ],
    },
  ];
  const asked = { role: 'assistant', content: null, tool_calls: [call('call_1', 'A-1042')] };
  const second = [...first, asked, { role: 'tool', tool_call_id: 'call_1', content: '{"state":"at the depot"}' }];
  const askedAgain = { role: 'assistant', content: 'Let me see.', tool_calls: [call('call_2', 'A-1043')] };
  const third = [...second, askedAgain, { role: 'tool', tool_call_id: 'call_2', content: 'the carrier is away' }];
  const model = (id: string, from: number, input: unknown, output: unknown) => ({
    type: 'llm',
    span_id: id,
    parent_id: 'agent',
    name: id,
    vendor: 'openai',
    model: 'gpt-5',
    input: { type: 'chat_messages', value: input },
    output: { type: 'chat_messages', value: [output] },
    metrics: { prompt_tokens: 1_000, completion_tokens: 200, cache_read_input_tokens: 400 },
    timestamps: { started_at: at(from), first_token_at: at(from + 0.3), finished_at: at(from + 1) },
  });
  const tool = (id: string, parent: string, from: number, order: string) => ({
    type: 'tool',
    span_id: id,
    parent_id: parent,
    name: 'look_up_order',
    input: { type: 'json', value: { order } },
    timestamps: { started_at: at(from), finished_at: at(from + 1) },
  });
  const failure = {
    message: 'The carrier did not answer',
    stacktrace: ['at ask (carrier.ts:40)', 'at run (agent.ts:12)'],
  };
  const thinking = { type: 'thinking', thinking: 'The parcel is late, so I say when it comes.' };
  return {
    trace_id: traceId,
    spans: [
      {
        type: 'agent',
        span_id: 'agent',
        name: 'help the customer',
        input: { type: 'text', value: 'Where is my parcel? See the picture.' },
        output: { type: 'text', value: ANSWER },
        error: failure,
        timestamps: { started_at: at(0), finished_at: at(9) },
      },
      model('plan', 1, first, { ...asked, refusal: null, annotations: [] }),
      { ...tool('order-1', 'plan', 2, 'A-1042'), output: { type: 'json', value: { state: 'at the depot' } } },
      model('plan again', 3, second, askedAgain),
      { ...tool('order-2', 'plan again', 4, 'A-1043'), error: failure },
      model('answer', 6, third, { role: 'assistant', content: [thinking, { type: 'text', text: ANSWER }] }),
    ],
  };
}

/** A chat of one span, with Markdown in every answer. */
export function longChat(traceId: string, count: number, startedAt: number) {
  const text = (index: number) =>
    index % 2 === 0
      ? `Question ${index}`
      : `Answer **${index}**\n\n- one\n- two\n\n\`\`\`js\nconst at = ${index};\n\`\`\``;
  return {
    trace_id: traceId,
    spans: [
      {
        type: 'llm',
        span_id: 'chat',
        name: 'chat',
        input: {
          type: 'chat_messages',
          value: Array.from({ length: count }, (_, index) => ({
            role: index % 2 === 0 ? 'user' : 'assistant',
            content: text(index),
          })),
        },
        timestamps: { started_at: startedAt, finished_at: startedAt + 1_000 },
      },
    ],
  };
}

/** What somebody debugs: runs of an agent with tools deep in a tree, good ones and bad ones. */

const SYSTEM = `You refund orders of a shop. ${'Check the policy before you promise anything. '.repeat(12)}`;

export const STACK = [
  'OrderIndexError: shard 7 did not answer within 2,000 ms',
  '    at search (orders/index.ts:118:11)',
  '    at searchOrders (tools/search-orders.ts:42:18)',
  '    at runTool (agent/tools.ts:77:5)',
];

export type Incident = {
  /** The tool that searches orders fails for good, and so does the run. */
  readonly fails?: boolean;
  /** The tool failed this many times before it went well. */
  readonly retries?: number;
  /** How long the tool that checks the policy takes. */
  readonly policyMs?: number;
  /** Tokens that the call that writes the answer reads. */
  readonly tokens?: number;
};

/** Thirty and more spans, five levels deep. */
export function refundRun(traceId: string, startedAt: number, incident: Incident = {}) {
  const { fails = false, retries = 0, policyMs = 300, tokens = 2_400 } = incident;
  const lengthMs = 6_000 + policyMs;
  const id = (name: string) => `${traceId}-${name}`;
  const span = (type: string, name: string, [parent, from, to]: readonly [string | null, number, number]) => ({
    type,
    span_id: id(name),
    ...(parent !== null && { parent_id: id(parent) }),
    name: name.replace(/ #\d+$/, ''),
    timestamps: { started_at: startedAt + from, finished_at: startedAt + to },
  });
  const error = { message: 'OrderIndexError: shard 7 did not answer within 2,000 ms', stacktrace: STACK.slice(1) };
  const attempts = fails ? 1 : retries + 1;
  const said = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: 'I want my money back for order A-1042.' },
  ];
  const model = (name: string, at: readonly [string, number, number], rest: object) => ({
    ...span('llm', name, at),
    vendor: 'openai',
    model: 'gpt-5',
    metrics: { prompt_tokens: 900, completion_tokens: 60 },
    ...rest,
  });
  const answer = fails ? 'I cannot find the order now.' : 'The 42 euros are on their way to you.';
  return {
    trace_id: traceId,
    metadata: { user_id: 'dana', thread_id: 'refund-talk', labels: ['refunds'] },
    spans: [
      {
        ...span('agent', 'refund-agent', [null, 0, lengthMs]),
        input: { type: 'text', value: 'I want my money back for order A-1042.' },
        ...(fails ? { error: { message: 'The refund failed' } } : { output: { type: 'text', value: answer } }),
      },
      model('plan the refund', ['refund-agent', 20, 700], { input: { type: 'chat_messages', value: said } }),
      ...Array.from({ length: 22 }, (_, index) =>
        span('rag', `read policy page ${index + 1}`, ['refund-agent', 700 + index * 20, 715 + index * 20]),
      ),
      span('chain', 'handle the order', ['refund-agent', 1_200, lengthMs - 900]),
      {
        ...span('agent', 'orders agent', ['handle the order', 1_220, 4_200]),
        ...(fails && { error: { message: 'No order was found' } }),
      },
      model('choose a tool', ['orders agent', 1_240, 1_900], { input: { type: 'chat_messages', value: said } }),
      span('chain', 'look up', ['orders agent', 1_920, 4_100]),
      ...Array.from({ length: attempts }, (_, index) => ({
        ...span('tool', `search_orders #${index}`, ['look up', 1_950 + index * 300, 2_200 + index * 300]),
        input: { type: 'json', value: { order: 'A-1042', attempt: index + 1 } },
        ...(fails || index < retries ? { error } : { output: { type: 'json', value: { order: 'A-1042', paid: 42 } } }),
      })),
      {
        ...span('tool', 'check_policy', ['handle the order', 4_300, 4_300 + policyMs]),
        output: { type: 'json', value: { refundable: !fails } },
      },
      model('write the answer', ['refund-agent', lengthMs - 850, lengthMs - 20], {
        input: { type: 'chat_messages', value: [...said, { role: 'assistant', content: 'I look at the order.' }] },
        output: { type: 'chat_messages', value: [{ role: 'assistant', content: answer }] },
        metrics: { prompt_tokens: tokens, completion_tokens: 120 },
      }),
    ],
  };
}

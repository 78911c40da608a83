/** Answers of providers in the form that does not stream, as their documentation shows them. */

const USAGE = {
  prompt_tokens: 9,
  completion_tokens: 12,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
};

const CHAT = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_741_569_952,
  model: 'gpt-5-2026-01-01',
  service_tier: 'default',
  system_fingerprint: 'fp_1',
  usage: USAGE,
};

const TOKENS = [{ token: 'Hi', logprob: -0.25, bytes: [72, 105], top_logprobs: [] }];

const message = (changes: object) => ({ role: 'assistant', content: null, refusal: null, ...changes });
const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'weather', arguments: args } });

export const CHAT_ANSWERS = {
  text: {
    ...CHAT,
    choices: [
      { index: 0, message: message({ content: 'Grüße,\n\n"data: x" 🎉' }), logprobs: null, finish_reason: 'stop' },
    ],
  },
  'several choices with logprobs': {
    ...CHAT,
    choices: [0, 1].map((index) => ({
      index,
      message: message({ content: 'Hi' }),
      logprobs: { content: TOKENS, refusal: null },
      finish_reason: 'length',
    })),
  },
  'tool calls': {
    ...CHAT,
    choices: [
      {
        index: 0,
        message: message({
          tool_calls: [call('call_1', '{"city":"Rome"}'), call('call_2', '{"big":9007199254740993}')],
        }),
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
  },
  refusal: {
    ...CHAT,
    choices: [{ index: 0, message: message({ refusal: 'I cannot.' }), logprobs: null, finish_reason: 'stop' }],
  },
};

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5',
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 25, service_tier: 'standard' },
};

export const MESSAGES = {
  text: { ...MESSAGE, content: [{ type: 'text', text: 'Grüße,\n\nevent: x' }] },
  'thinking and tools': {
    ...MESSAGE,
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'Well …', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Rome', days: [1, 2.5] } },
      { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
    ],
  },
  'citations and results of tools': {
    ...MESSAGE,
    stop_reason: 'stop_sequence',
    stop_sequence: 'END',
    content: [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'u' }] },
      { type: 'text', text: 'It is.', citations: [{ type: 'web_search_result_location', url: 'u', cited_text: 'is' }] },
    ],
  },
};

export const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_741_476_542,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'gpt-5',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Thinking.' }] },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'In a peaceful grove …',
          annotations: [{ type: 'url_citation', start_index: 0, end_index: 2, url: 'u', title: 't' }],
          logprobs: [],
        },
        { type: 'refusal', refusal: 'Not that.' },
      ],
    },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"a":1}',
      status: 'completed',
    },
    { type: 'custom_tool_call', id: 'ct_1', call_id: 'call_2', name: 'shell', input: 'ls' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
  ],
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  metadata: {},
  usage: { input_tokens: 36, output_tokens: 87, total_tokens: 123 },
};

import { describe, expect, it } from 'vitest';
import { callKindOf } from '../../../../src/domain/traces/calls.ts';
import type { SpanDraft } from '../../../../src/domain/traces/collector/collector-draft.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { draftOf } from './spans.ts';

type Said = { readonly [key: string]: LosslessJson };

function contentOf({ input, output }: SpanDraft) {
  const valueIn = (draft: SpanDraft['input']) => (draft !== undefined && 'value' in draft ? draft.value : draft);
  return { input: valueIn(input), output: valueIn(output) };
}

const json = JSON.stringify;
const ASKED = [{ role: 'user', content: 'Rain?' }];
const ANSWERED = [{ role: 'assistant', content: 'Yes.' }];
const CALL = { id: 'c', type: 'function', function: { name: 'weather', arguments: { in: 'Oslo' } } };
const BOTH = { input: ASKED, output: ANSWERED };

describe('Langfuse', () => {
  const generation: Said = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.model.name': 'gpt-5-mini',
    'langfuse.observation.model.parameters': '{"temperature":0.2}',
    'langfuse.observation.input': 'hi',
    'langfuse.observation.output': 'yes',
    'langfuse.observation.usage_details':
      '{"input":600,"input_cached_tokens":400,"output":136,"output_reasoning_tokens":64,"total":1200}',
    'langfuse.observation.cost_details': '{"total":0.0003}',
    'langfuse.observation.level': 'ERROR',
    'langfuse.observation.status_message': 'boom',
  };

  it('is read whole', () => {
    const draft = draftOf(generation);
    expect(draft).toMatchObject({
      type: 'llm',
      model: 'gpt-5-mini',
      params: { temperature: 0.2 },
      error: { message: 'boom' },
      metrics: {
        promptTokens: 1000,
        completionTokens: 200,
        reasoningTokens: 64,
        cacheReadInputTokens: 400,
        cachedTokensInPrompt: true,
        cost: 0.0003,
      },
    });
    expect(contentOf(draft)).toEqual({ input: 'hi', output: 'yes' });
  });

  it('comes before the names of others', () => {
    const others = { 'gen_ai.request.model': 'x', 'gen_ai.input.messages': json(ASKED), 'output.value': 'other' };
    const draft = draftOf({ ...generation, ...others, 'gen_ai.operation.name': 'invoke_agent' });
    expect([draft.type, draft.model, contentOf(draft)]).toEqual(['llm', 'gpt-5-mini', { input: 'hi', output: 'yes' }]);
  });

  it('has costs of parts where it has no total', () => {
    const cost = json({ input: 0.25, output: 0.5 });
    expect(draftOf({ 'langfuse.observation.cost_details': cost }).metrics).toMatchObject({ cost: 0.75 });
  });

  it('has texts of the trace on the span that set them', () => {
    const trace = { 'langfuse.trace.input': 'q', 'langfuse.trace.output': '{"a":1}' };
    expect(contentOf(draftOf(trace))).toEqual({ input: 'q', output: { a: 1 } });
    expect(contentOf(draftOf({ ...trace, 'langfuse.observation.input': 'own' })).input).toBe('own');
  });

  it.each(['DEFAULT', 'DEBUG', 'WARNING'])('has no error at level %s', (level) => {
    const said = { 'langfuse.observation.level': level, 'langfuse.observation.status_message': 'slow' };
    expect(draftOf(said).error).toBeUndefined();
  });

  it('calls of its embeddings are calls', () => {
    const said = { 'langfuse.observation.type': 'embedding', 'langfuse.observation.model.name': 'e' };
    const telemetry = { attributes: said };
    expect(callKindOf({ type: 'component', name: 'x', model: 'e', telemetry })).toBe('embeddings');
  });
});

describe('whole requests and answers', () => {
  const LANGCHAIN_ASKED = {
    messages: [
      [
        {
          lc: 1,
          type: 'constructor',
          id: ['langchain_core', 'messages', 'HumanMessage'],
          kwargs: { content: 'Rain?' },
        },
      ],
    ],
  };
  const aiMessage = {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'AIMessageChunk'],
    kwargs: { content: 'Yes.' },
  };

  it.each<readonly [form: string, request: LosslessJson, answer: LosslessJson]>([
    ['messages', ASKED, ANSWERED],
    ['a message', ASKED, { role: 'assistant', content: 'Yes.' }],
    [
      "OpenAI's",
      { model: 'gpt-5', messages: ASKED },
      { choices: [{ index: 0, message: ANSWERED[0] as LosslessJson }] },
    ],
    ['items', { input: ASKED }, { output: [{ type: 'reasoning' }, ANSWERED[0] as LosslessJson] }],
    ["LangChain's", LANGCHAIN_ASKED, { generations: [[{ text: 'Yes.', message: aiMessage }]] }],
    [
      "LangChain's short form",
      [{ type: 'human', content: 'Rain?' }],
      { outputs: { type: 'ai', data: { content: 'Yes.' } } },
    ],
    ["a graph's", { messages: [{ type: 'human', content: 'Rain?' }] }, { messages: [...ASKED, ...ANSWERED] }],
    ["Ollama's", { messages: ASKED }, { message: ANSWERED[0] as LosslessJson, done: true }],
  ])('of LangSmith become chats: %s', (_, request, answer) => {
    const said = { 'langsmith.span.kind': 'llm', 'gen_ai.prompt': json(request), 'gen_ai.completion': json(answer) };
    expect(contentOf(draftOf(said))).toEqual(BOTH);
  });

  it('keep calls of tools and instructions', () => {
    const call = { name: 'weather', args: { in: 'Oslo' }, id: 'c', type: 'tool_call' };
    const kwargs = { content: '', tool_calls: [call] };
    const answer = { generations: [[{ message: { id: ['x', 'AIMessage'], kwargs } }]] };
    const request = { system: 'Be brief.', messages: [{ type: 'tool', content: '3 mm', tool_call_id: 'c' }] };
    const said = { 'langsmith.span.kind': 'llm', 'gen_ai.prompt': json(request), 'gen_ai.completion': json(answer) };
    expect(contentOf(draftOf(said))).toEqual({
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'tool', content: '3 mm', tool_call_id: 'c' },
      ],
      output: [{ role: 'assistant', content: '', tool_calls: [CALL] }],
    });
  });

  it.each<LosslessJson>([
    { question: 'Rain?' },
    { messages: ['Rain?'] },
    { messages: [] },
    { choices: [{ text: 'x' }] },
    [1],
  ])('stay as they are without messages: %j', (value) => {
    const said = { 'langsmith.span.kind': 'chain', 'gen_ai.prompt': json(value), 'gen_ai.completion': json(value) };
    expect(contentOf(draftOf(said))).toEqual({ input: value, output: value });
  });

  it('of Langfuse, Logfire and MLflow become chats, too', () => {
    const request = json({ messages: ASKED });
    const answer = json({ choices: [{ message: ANSWERED[0] }] });
    for (const [asked, answered] of [
      ['langfuse.observation.input', 'langfuse.observation.output'],
      ['request_data', 'response_data'],
      ['mlflow.spanInputs', 'mlflow.spanOutputs'],
    ] as const) {
      expect(contentOf(draftOf({ [asked]: request, [answered]: answer }))).toEqual(BOTH);
    }
  });
});

it('an exception of LangSmith under a status that is not an error is none', () => {
  const exception = { name: 'exception', timeNano: 0n, attributes: new Map([['exception.message', 'x']]) };
  const status = { code: 1, message: '' };
  expect(draftOf({ 'langsmith.span.kind': 'llm' }, { status, events: [exception] }).error).toBeUndefined();
});

describe('pydantic-ai', () => {
  it('has messages as a list of events', () => {
    const events = json([
      { 'event.name': 'gen_ai.user.message', 'gen_ai.message.index': 0, content: 'Rain?', role: 'user' },
      { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', content: 'Yes.' } },
    ]);
    for (const key of ['events', 'all_messages_events']) expect(contentOf(draftOf({ [key]: events }))).toEqual(BOTH);
    expect(contentOf(draftOf({ events: '[{"name":"click"}]' }))).toEqual({ input: undefined, output: undefined });
  });

  it('has the conversation of an agent, which ends with its answer', () => {
    const messages = [
      { role: 'user', parts: [{ type: 'text', content: 'Rain?' }] },
      { role: 'assistant', parts: [{ type: 'text', content: 'Yes.' }] },
    ];
    expect(contentOf(draftOf({ 'pydantic_ai.all_messages': json(messages) }))).toEqual({
      input: [{ role: 'user', content: [{ type: 'text', content: 'Rain?' }] }],
      output: [{ role: 'assistant', content: [{ type: 'text', content: 'Yes.' }] }],
    });
    const cut = { 'pydantic_ai.all_messages': json(ASKED), final_result: '{"rain":true}' };
    expect(contentOf(draftOf(cut))).toEqual({ input: ASKED, output: { rain: true } });
  });

  it('has arguments and answers of tools, behind the names of others', () => {
    const tool = { tool_arguments: '{"in":"Oslo"}', tool_response: '3 mm' };
    expect(contentOf(draftOf(tool))).toEqual({ input: { in: 'Oslo' }, output: '3 mm' });
    const named = { ...tool, 'gen_ai.tool.call.arguments': '{"in":"Moss"}', 'gen_ai.tool.call.result': '1 mm' };
    expect(contentOf(draftOf(named))).toEqual({ input: { in: 'Moss' }, output: '1 mm' });
  });
});

it('Mastra names the texts of a span by its type', () => {
  const said = {
    'mastra.span.type': 'AGENT_RUN',
    'gen_ai.operation.name': 'invoke_agent',
    'mastra.agent_run.input': json(ASKED),
    'mastra.agent_run.output': '{"text":"Yes."}',
    'mastra.tool_call.input': 'of another span',
  };
  expect(contentOf(draftOf(said))).toEqual({ input: ASKED, output: { text: 'Yes.' } });
});

describe('Google ADK', () => {
  it('has requests and answers of Gemini', () => {
    const request = {
      config: { system_instruction: 'Be brief.' },
      contents: [
        { role: 'user', parts: [{ text: 'Rain?' }] },
        { role: 'model', parts: [{ function_call: { id: 'c', name: 'weather', args: { in: 'Oslo' } } }] },
        { role: 'user', parts: [{ function_response: { id: 'c', name: 'weather', response: { mm: 3 } } }] },
      ],
    };
    const response = { content: { role: 'model', parts: [{ text: 'Wet.', thought: true }, { text: 'Yes.' }] } };
    const said = {
      'gcp.vertex.agent.llm_request': json(request),
      'gcp.vertex.agent.llm_response': json(response),
      'gcp.vertex.agent.tool_call_args': '{}',
    };
    const { input, output } = contentOf(draftOf(said));
    expect(input).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', content: 'Rain?' }] },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'user', content: [{ type: 'tool_call_response', id: 'c', response: { mm: 3 } }] },
    ]);
    expect(output).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', content: 'Wet.' },
          { type: 'text', content: 'Yes.' },
        ],
      },
    ]);
  });

  it('has arguments and answers of tools, and nothing where contents are not captured', () => {
    const tool = {
      'gcp.vertex.agent.llm_request': '{}',
      'gcp.vertex.agent.llm_response': '{}',
      'gcp.vertex.agent.tool_call_args': '{"in":"Oslo"}',
      'gcp.vertex.agent.tool_response': '{"mm":3}',
    };
    expect(contentOf(draftOf(tool))).toEqual({ input: { in: 'Oslo' }, output: { mm: 3 } });
    const none = { 'gcp.vertex.agent.llm_request': '{}', 'gcp.vertex.agent.tool_response': '{}' };
    expect(contentOf(draftOf(none))).toEqual({ input: undefined, output: undefined });
  });
});

it('MLflow has every value as JSON', () => {
  const said = {
    'mlflow.spanType': '"CHAT_MODEL"',
    'mlflow.llm.model': '"gpt-5-mini"',
    'mlflow.llm.provider': '"openai"',
    'mlflow.llm.cost': '{"input_cost":0.1,"output_cost":0.2,"total_cost":0.3}',
    'mlflow.chat.tokenUsage': '{"input_tokens":1000,"output_tokens":200,"cache_read_input_tokens":400}',
  };
  expect(draftOf(said)).toMatchObject({
    type: 'llm',
    model: 'gpt-5-mini',
    vendor: 'openai',
    metrics: { promptTokens: 1000, completionTokens: 200, cacheReadInputTokens: 400, cost: 0.3 },
  });
});

it('Claude Code has short names', () => {
  const said = { 'span.type': 'llm_request', model: 'claude-sonnet-4-5', input_tokens: 2, output_tokens: 7 };
  const draft = draftOf({ ...said, new_context: 'Rain?', 'response.model_output': 'Yes.' });
  expect(draft).toMatchObject({ type: 'llm', model: 'claude-sonnet-4-5', metrics: { promptTokens: 2 } });
  expect(contentOf(draft)).toEqual({ input: 'Rain?', output: 'Yes.' });
  expect(draftOf({ model: 'm', input_tokens: 2 }).model).toBeUndefined();
});

import { expect, it } from 'vitest';
import type { OtlpSpan } from '../../../../src/domain/traces/otlp/span.ts';
import { typeOf as typeOfView } from '../../../../src/domain/traces/otlp/span-type.ts';
import { SPAN_TYPES } from '../../../../src/domain/traces/trace.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';
import { spanWith, viewOf } from './spans.ts';

const typeOf = (span: OtlpSpan) => typeOfView(viewOf(span));

/** In the order of the sources: each case also has values of other types for all later sources. */
const CASES: readonly (readonly [key: string, value: LosslessJson, expected: string])[] = [
  ['langwatch.span.type', 'guardrail', 'guardrail'],
  ['langfuse.observation.type', 'retriever', 'rag'],
  ['langsmith.span.kind', 'chain', 'chain'],
  ['openinference.span.kind', 'RETRIEVER', 'rag'],
  ['traceloop.span.kind', 'workflow', 'workflow'],
  ['gen_ai.operation.name', 'execute_tool', 'tool'],
  ['llm.request.type', 'rerank', 'component'],
  ['operation.name', 'ai.streamText.doStream recipes', 'llm'],
  ['ai.operationId', 'ai.toolCall', 'tool'],
  ['langwatch.type', 'server', 'server'],
  ['type', 'task', 'task'],
  ['mastra.span.type', 'workflow_run', 'workflow'],
  ['mlflow.spanType', '"RETRIEVER"', 'rag'],
  ['span.type', 'hook', 'component'],
  ['gen_ai.agent.name', 'planner', 'agent'],
];

it.each(CASES.map(([key, , expected], index) => [key, expected, index] as const))(
  '%s decides before what follows: %s',
  (_, expected, index) => {
    expect(typeOf(spanWith(Object.fromEntries(CASES.slice(index).map(([key, value]) => [key, value]))))).toBe(expected);
  },
);

it.each([
  ...SPAN_TYPES.map((type) => ['langwatch.span.type', type, type] as const),
  ['langwatch.span.type', 'other', 'span'],
  ['openinference.span.kind', 'Embedding', 'component'],
  ['openinference.span.kind', 'RERANKER', 'component'],
  ['openinference.span.kind', 'PROMPT', 'component'],
  ['openinference.span.kind', 'EVALUATOR', 'evaluation'],
  ['openinference.span.kind', 'LLM', 'llm'],
  ['openinference.span.kind', 'CHAIN', 'chain'],
  ['openinference.span.kind', 'AGENT', 'agent'],
  ['openinference.span.kind', 'TOOL', 'tool'],
  ['openinference.span.kind', 'GUARDRAIL', 'guardrail'],
  ['gen_ai.operation.name', 'chat', 'llm'],
  ['gen_ai.operation.name', 'text_completion', 'llm'],
  ['gen_ai.operation.name', 'generate_content', 'llm'],
  ['gen_ai.operation.name', 'embeddings', 'component'],
  ['gen_ai.operation.name', 'invoke_agent', 'agent'],
  ['gen_ai.operation.name', 'create_agent', 'agent'],
  ['gen_ai.operation.name', 'plan', 'agent'],
  ['gen_ai.operation.name', 'handoff', 'agent'],
  ['gen_ai.operation.name', 'retrieval', 'rag'],
  ['gen_ai.operation.name', 'search_memory', 'rag'],
  ['gen_ai.operation.name', 'rerank', 'component'],
  ['gen_ai.operation.name', 'invoke_workflow', 'workflow'],
  ['gen_ai.operation.name', 'agent_step', 'span'],
  ['gen_ai.operation.name', 'toString', 'span'],
  ['llm.request.type', 'chat', 'llm'],
  ['llm.request.type', 'completion', 'llm'],
  ['llm.request.type', 'embedding', 'component'],
  ['ai.operationId', 'ai.generateObject', 'agent'],
  ['ai.operationId', 'ai.generateObject.doGenerate', 'llm'],
  ['ai.operationId', 'ai.embed', 'component'],
  ['ai.operationId', 'ai.embedMany.doEmbed', 'component'],
  ...(
    [
      ['generation', 'llm'],
      ['embedding', 'component'],
      ['evaluator', 'evaluation'],
      ['event', 'span'],
      ['tool', 'tool'],
    ] as const
  ).map(([value, type]) => ['langfuse.observation.type', value, type] as const),
  ['langsmith.span.kind', 'retriever', 'rag'],
  ['langsmith.span.kind', 'prompt', 'component'],
  ['mastra.span.type', 'AGENT_RUN', 'agent'],
  ['mastra.span.type', 'model_chunk', 'span'],
  ['mlflow.spanType', 'CHAT_MODEL', 'llm'],
  ['mlflow.spanType', '"UNKNOWN"', 'span'],
  ['span.type', 'interaction', 'agent'],
  ['span.type', 'llm_request', 'llm'],
  ['gen_ai.tool.name', 'x', 'tool'],
  ['gen_ai.request.model', 'x', 'span'],
  ['llm.anything', 1, 'span'],
  ['gen_ai.usage.input_tokens', 1, 'span'],
  ['toString', 'llm', 'span'],
] as const)('%s = %j: %s', (key, value, expected) => {
  expect(typeOf(spanWith({ [key]: value }))).toBe(expected);
});

it.each([
  'gen_ai.usage.input_tokens',
  'llm.token_count.completion',
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'gen_ai.completion.0.content',
  'llm.output_messages.0.message.role',
  'ai.prompt.messages',
])('a model together with %s is a call of it', (key) => {
  expect(typeOf(spanWith({ 'gen_ai.request.model': 'gpt-5', [key]: '1' }))).toBe('llm');
  expect(typeOf(spanWith({ 'gen_ai.request.model': 'none', [key]: '1' }))).toBe('span');
  expect(typeOf(spanWith({ 'ai.model': 'gpt-5', [key]: '1', 'gen_ai.operation.name': 'agent_step' }))).toBe('span');
});

it('a blank operation tells nothing', () => {
  const call = { 'gen_ai.operation.name': '', 'gen_ai.request.model': 'gpt-5', 'gen_ai.usage.input_tokens': 1 };
  expect(typeOf(spanWith(call))).toBe('llm');
});

it('a name of the ai package is a sign as well', () => {
  expect(typeOf(spanWith({}, { name: 'ai.streamText' }))).toBe('agent');
  expect(typeOf(spanWith({}, { name: 'ai.streamText.doStream' }))).toBe('llm');
  expect(typeOf(spanWith({}))).toBe('span');
});

it('a retrieval of LlamaIndex, which OpenLLMetry calls a task, is one', () => {
  const task = { 'traceloop.span.kind': 'task' };
  const scope = { name: '@traceloop/instrumentation-llamaindex', version: '' };
  const name = 'vector_index_retriever.retrieve';
  expect(typeOf(spanWith(task, { name, scope }))).toBe('rag');
  expect(typeOf(spanWith(task, { name }))).toBe('task');
  expect(typeOf(spanWith(task, { name: 'query', scope }))).toBe('task');
});

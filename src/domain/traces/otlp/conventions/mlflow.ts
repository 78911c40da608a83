/** MLflow: names of its own, with every value as JSON. */

import type { Convention, UsageSource } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { answer, memberOf, quoted, request, typeBy, unquoted } from './sources.ts';

const USAGE = 'mlflow.chat.tokenUsage';

export const MLFLOW: Convention = {
  name: 'MLflow',
  marks: [USAGE],
  usage: {
    prompt_tokens: [count('input_tokens')],
    completion_tokens: [count('output_tokens')],
    cache_read_input_tokens: [count('cache_read_input_tokens')],
    cache_creation_input_tokens: [count('cache_creation_input_tokens')],
    total_tokens: [count('total_tokens')],
  },
  // It passes on what the API of the model said.
  cachedTokensInPrompt: null,
};

function count(member: string): UsageSource {
  return { json: USAGE, members: [member] };
}

const TYPE = 'mlflow.spanType';
const INPUTS = 'mlflow.spanInputs';
const OUTPUTS = 'mlflow.spanOutputs';

export const MLFLOW_SPANS: Dialect = {
  name: 'MLflow',
  marks: [TYPE, INPUTS, OUTPUTS],
  leads: false,
  type: typeBy(TYPE, {
    llm: 'llm',
    chat_model: 'llm',
    chain: 'chain',
    agent: 'agent',
    tool: 'tool',
    retriever: 'rag',
    embedding: 'component',
    reranker: 'component',
    parser: 'component',
    memory: 'component',
    guardrail: 'guardrail',
    evaluator: 'evaluation',
    workflow: 'workflow',
    task: 'task',
  }),
  model: [quoted('mlflow.llm.model')],
  vendor: [quoted('mlflow.llm.provider')],
  cost: [memberOf('mlflow.llm.cost', 'total_cost')],
  input: [unquoted(request(INPUTS))],
  output: [unquoted(answer(OUTPUTS))],
};

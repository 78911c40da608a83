/** Langfuse: names of its own for everything, and one JSON object of counts that exclude each other. */

import { isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import type { Convention, UsageSource } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { answer, attribute, converted, memberOf, request, typeBy } from './sources.ts';

const CACHE_READ = ['input_cached_tokens', 'input_cache_read', 'cache_read_input_tokens'];
const CACHE_CREATION = ['input_cache_creation', 'cache_creation_input_tokens'];
const REASONING = ['output_reasoning_tokens', 'output_reasoning'];
const INPUT_AUDIO = ['input_audio_tokens', 'input_audio'];
const OUTPUT_AUDIO = ['output_audio_tokens', 'output_audio'];
const PREDICTIONS = ['output_accepted_prediction_tokens', 'output_rejected_prediction_tokens'];

export const LANGFUSE: Convention = {
  name: 'Langfuse',
  marks: ['langfuse.observation.usage_details'],
  usage: {
    prompt_tokens: sumOf('input', 'prompt_tokens', ...CACHE_READ, ...CACHE_CREATION, ...INPUT_AUDIO),
    completion_tokens: sumOf('output', 'completion_tokens', ...REASONING, ...OUTPUT_AUDIO, ...PREDICTIONS),
    reasoning_tokens: sumOf(...REASONING),
    cache_read_input_tokens: sumOf(...CACHE_READ),
    cache_creation_input_tokens: sumOf(...CACHE_CREATION),
    input_audio_tokens: sumOf(...INPUT_AUDIO),
    output_audio_tokens: sumOf(...OUTPUT_AUDIO),
    total_tokens: sumOf('total'),
  },
  cachedTokensInPrompt: true,
};

function sumOf(...members: readonly string[]): readonly UsageSource[] {
  return [{ json: 'langfuse.observation.usage_details', members }];
}

const TYPE = 'langfuse.observation.type';
const MODEL = 'langfuse.observation.model.name';
const INPUT = 'langfuse.observation.input';
const OUTPUT = 'langfuse.observation.output';
const COST = 'langfuse.observation.cost_details';
const PARAMETERS = 'langfuse.observation.model.parameters';
const TRACE_INPUT = 'langfuse.trace.input';
const TRACE_OUTPUT = 'langfuse.trace.output';

export const LANGFUSE_SPANS: Dialect = {
  name: 'Langfuse',
  marks: [TYPE, MODEL, INPUT, OUTPUT, COST, PARAMETERS, TRACE_INPUT, TRACE_OUTPUT],
  leads: true,
  type: typeBy(TYPE, {
    generation: 'llm',
    agent: 'agent',
    tool: 'tool',
    chain: 'chain',
    retriever: 'rag',
    embedding: 'component',
    evaluator: 'evaluation',
    guardrail: 'guardrail',
    event: 'span',
    span: 'span',
  }),
  model: [attribute(MODEL)],
  cost: [memberOf(COST, 'total'), converted(COST, sumOfParts, 'the sum of')],
  // The texts of a trace stand on the span that set them.
  input: [request(INPUT), request(TRACE_INPUT)],
  output: [answer(OUTPUT), answer(TRACE_OUTPUT)],
  params: [attribute(PARAMETERS)],
};

/** Costs of parts exclude each other, as their counts do. */
function sumOfParts(parts: LosslessJson): LosslessJson | undefined {
  const figures = isObject(parts) ? Object.values(parts).filter((part) => typeof part === 'number') : [];
  return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}

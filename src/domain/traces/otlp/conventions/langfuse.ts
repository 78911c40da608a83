/** Langfuse: names of its own for everything. */

import { isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import type { Dialect } from './dialect.ts';
import { answer, attribute, converted, memberOf, request, typeBy } from './sources.ts';

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

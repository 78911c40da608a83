/** Mastra: OpenTelemetry GenAI, with names of its own for what is no call of a model. */

import { createSource, type Source } from '../span-view.ts';
import type { Dialect } from './dialect.ts';
import { typeBy } from './sources.ts';

const TYPE = 'mastra.span.type';

export const MASTRA_SPANS: Dialect = {
  name: 'Mastra',
  marks: [TYPE],
  leads: false,
  type: typeBy(TYPE, {
    agent_run: 'agent',
    model_generation: 'llm',
    tool_call: 'tool',
    mcp_tool_call: 'tool',
    provider_tool_call: 'tool',
    workflow_run: 'workflow',
    rag_embedding: 'component',
  }),
  input: [ofType('input')],
  output: [ofType('output')],
};

/** The type of a span is part of the names. */
function ofType(side: 'input' | 'output'): Source {
  return createSource(`\`mastra.<${TYPE}>.${side}\``, ({ span: { attributes } }) => {
    const type = attributes.get(TYPE);
    return typeof type === 'string' ? attributes.get(`mastra.${type.toLowerCase()}.${side}`) : undefined;
  });
}

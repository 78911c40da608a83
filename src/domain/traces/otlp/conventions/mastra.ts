/** Mastra: OpenTelemetry GenAI, with names of its own for what is not a call of a model. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import { toToolCall } from '../messages.ts';
import { createSource, type Source } from '../span-view.ts';
import { askedIn } from './chat-forms.ts';
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
  input: [ofType('input', askedIn)],
  output: [ofType('output', saidIn)],
};

/** The type of a span is part of the names. */
function ofType(side: 'input' | 'output', convert: (value: LosslessJson) => LosslessJson): Source {
  return createSource(`messages of \`mastra.<${TYPE}>.${side}\``, ({ span: { attributes }, json }) => {
    const type = attributes.get(TYPE);
    if (typeof type !== 'string') return undefined;
    const value = attributes.get(`mastra.${type.toLowerCase()}.${side}`);
    const parsed = OF_MODELS.has(type.toLowerCase()) ? json.parsed(value) : undefined;
    return parsed === undefined ? value : convert(parsed);
  });
}

const OF_MODELS: ReadonlySet<string> = new Set(['agent_run', 'model_generation', 'model_step']);

/** The text of a model and its calls of tools. */
function saidIn(value: LosslessJson): LosslessJson {
  if (!isObject(value) || typeof value.text !== 'string') return value;
  const { text, toolCalls } = value;
  const calls = isArray(toolCalls) ? toolCalls.filter(isObject) : [];
  if (calls.length === 0) return value;
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: calls.map(toToolCall) };
}

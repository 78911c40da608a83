/** Spring AI: OpenTelemetry GenAI with every value as text, and names of its own for tools and vector stores. */

import { createSource } from '../span-view.ts';
import type { Convention } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { CACHE_READ, CACHE_WRITES, COUNTS } from './gen-ai.ts';
import { attribute, quoted } from './sources.ts';

/** It passes on what the API of the model said: that of Anthropic counts cached tokens beside the prompt. */
export const SPRING_AI: Convention = {
  name: 'Spring AI',
  marks: [],
  scopes: ['org.springframework.boot'],
  usage: { ...COUNTS, cache_read_input_tokens: [CACHE_READ], cache_creation_input_tokens: CACHE_WRITES },
  cachedTokensInPrompt: true,
  cachedTokensInPromptOfClaude: false,
};

const KIND = 'spring.ai.kind';
const STORE_OPERATION = 'db.operation.name';

export const SPRING_AI_SPANS: Dialect = {
  name: 'Spring AI',
  marks: [KIND],
  leads: false,
  type: createSource(
    `\`${KIND}\`: \`vector_store\` → rag, where \`${STORE_OPERATION}\` is \`query\`, else component`,
    ({ span: { attributes } }) =>
      attributes.get(KIND) !== 'vector_store'
        ? undefined
        : attributes.get(STORE_OPERATION) === 'query'
          ? 'rag'
          : 'component',
  ),
  input: ['spring.ai.tool.call.arguments', 'db.vector.query.content'].map(attribute),
  output: [quoted('spring.ai.tool.call.result'), attribute('db.vector.query.response.documents')],
};

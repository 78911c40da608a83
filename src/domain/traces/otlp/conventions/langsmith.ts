/** LangSmith's OpenTelemetry mode: early names of OpenTelemetry GenAI, with details of counts as JSON. */

import type { Convention } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { COUNTS } from './gen-ai.ts';
import { typeBy } from './sources.ts';

const INPUT_DETAILS = 'gen_ai.usage.input_token_details';
const OUTPUT_DETAILS = 'gen_ai.usage.output_token_details';

export const LANGSMITH: Convention = {
  name: 'LangSmith',
  marks: [INPUT_DETAILS, OUTPUT_DETAILS],
  usage: {
    ...COUNTS,
    cache_read_input_tokens: [{ json: INPUT_DETAILS, members: ['cache_read'] }],
    // Writes of a known lifetime are not in cache_creation.
    cache_creation_input_tokens: [
      { json: INPUT_DETAILS, members: ['cache_creation', 'ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'] },
    ],
    ephemeral_5m_input_tokens: [{ json: INPUT_DETAILS, members: ['ephemeral_5m_input_tokens'] }],
    ephemeral_1h_input_tokens: [{ json: INPUT_DETAILS, members: ['ephemeral_1h_input_tokens'] }],
    input_audio_tokens: [{ json: INPUT_DETAILS, members: ['audio'] }],
    reasoning_tokens: [{ json: OUTPUT_DETAILS, members: ['reasoning'] }],
    output_audio_tokens: [{ json: OUTPUT_DETAILS, members: ['audio'] }],
  },
  cachedTokensInPrompt: true,
};

const KIND = 'langsmith.span.kind';

/** Its operation names are guesses: a prompt is `chat`, and a retriever is `embeddings`. */
export const LANGSMITH_SPANS: Dialect = {
  name: 'LangSmith',
  marks: [KIND],
  leads: true,
  type: typeBy(KIND, {
    llm: 'llm',
    chain: 'chain',
    tool: 'tool',
    retriever: 'rag',
    embedding: 'component',
    prompt: 'component',
    parser: 'component',
    agent: 'agent',
  }),
};

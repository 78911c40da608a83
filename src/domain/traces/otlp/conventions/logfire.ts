/** Logfire's own instrumentations of the packages of OpenAI and Anthropic. */

import { STATUS_ERROR } from '../span.ts';
import { createSource } from '../span-view.ts';
import type { Convention } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { CACHE_READ, CACHE_WRITES, COUNTS } from './gen-ai.ts';

/** What the API of the model said. */
const RAW = 'gen_ai.usage.raw';

export const LOGFIRE: Convention = {
  name: 'Logfire',
  marks: [RAW],
  usage: {
    ...COUNTS,
    cache_read_input_tokens: [
      CACHE_READ,
      { json: RAW, members: ['cache_read_input_tokens'] },
      { json: RAW, members: ['prompt_tokens_details.cached_tokens'] },
      { json: RAW, members: ['input_tokens_details.cached_tokens'] },
    ],
    cache_creation_input_tokens: [...CACHE_WRITES, { json: RAW, members: ['cache_creation_input_tokens'] }],
    reasoning_tokens: [
      ...COUNTS.reasoning_tokens,
      { json: RAW, members: ['completion_tokens_details.reasoning_tokens'] },
      { json: RAW, members: ['output_tokens_details.reasoning_tokens'] },
    ],
  },
  // It adds those that Anthropic counts beside.
  cachedTokensInPrompt: true,
};

const TEMPLATE = 'logfire.msg_template';
const REQUEST = 'request_data';
const ANSWERS = ['response_data', 'gen_ai.output.messages', 'gen_ai.usage.input_tokens'];

export const LOGFIRE_SPANS: Dialect = {
  name: 'Logfire',
  marks: [TEMPLATE],
  leads: true,
  // A streamed call is two spans: one ends as the stream begins, and the other, at the end, has the answer.
  type: createSource(
    `\`${REQUEST}\` without an answer or an error → span, because another span has the answer of a stream`,
    ({ span: { attributes, status } }) =>
      attributes.has(REQUEST) && status.code !== STATUS_ERROR && !ANSWERS.some((key) => attributes.has(key))
        ? 'span'
        : undefined,
  ),
};

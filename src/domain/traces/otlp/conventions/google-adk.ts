/** Google's Agent Development Kit: OpenTelemetry GenAI, with requests and answers of Gemini. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import { messageOf } from '../message-parts.ts';
import type { Convention } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { CACHE_READ, COUNTS } from './gen-ai.ts';
import { converted, unlessEmpty } from './sources.ts';

const REQUEST = 'gcp.vertex.agent.llm_request';
const RESPONSE = 'gcp.vertex.agent.llm_response';
const ARGUMENTS = 'gcp.vertex.agent.tool_call_args';
const RESULT = 'gcp.vertex.agent.tool_response';

/** Versions before 2.3 have thoughts beside the output tokens, and both only in the answer: its total tells. */
export const GOOGLE_ADK: Convention = {
  name: 'Google ADK',
  marks: [],
  scopes: ['gcp.vertex.agent'],
  usage: {
    ...COUNTS,
    reasoning_tokens: [
      ...COUNTS.reasoning_tokens,
      { json: RESPONSE, members: ['usage_metadata.thoughts_token_count'] },
    ],
    cache_read_input_tokens: [CACHE_READ, { json: RESPONSE, members: ['usage_metadata.cached_content_token_count'] }],
    total_tokens: [{ json: RESPONSE, members: ['usage_metadata.total_token_count'] }],
  },
  cachedTokensInPrompt: true,
};

export const GOOGLE_ADK_SPANS: Dialect = {
  name: 'Google ADK',
  marks: [REQUEST, RESPONSE, ARGUMENTS, RESULT],
  leads: false,
  input: [converted(REQUEST, askedIn, 'messages of'), converted(ARGUMENTS, unlessEmpty)],
  output: [converted(RESPONSE, answeredIn, 'messages of'), converted(RESULT, unlessEmpty)],
};

/** Calls have an empty object where contents are not captured, and for the tool that they are not. */
function askedIn(request: LosslessJson): LosslessJson | undefined {
  if (!isObject(request) || !isArray(request.contents)) return unlessEmpty(request);
  const { config } = request;
  const instruction = isObject(config) ? config.system_instruction : undefined;
  const messages = request.contents.map((content) => toMessage(content, 'user'));
  return typeof instruction === 'string' ? [{ role: 'system', content: instruction }, ...messages] : messages;
}

function answeredIn(response: LosslessJson): LosslessJson | undefined {
  if (!isObject(response) || !isObject(response.content)) return unlessEmpty(response);
  return [toMessage(response.content, 'assistant')];
}

function toMessage(content: LosslessJson, speaker: string): LosslessJson {
  if (!isObject(content)) return { role: speaker, content };
  const { role, parts = null } = content;
  return messageOf(role === 'model' ? 'assistant' : typeof role === 'string' ? role : speaker, parts);
}

/** pydantic-ai and Logfire: counts in details, messages as lists of events and as whole conversations. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import { inputOfListed, outputOfListed } from '../message-events.ts';
import { attributesIn, type Convention, type UsageTable } from './convention.ts';
import type { Dialect } from './dialect.ts';
import { CACHE_READ, CACHE_WRITES, COUNTS } from './gen-ai.ts';
import { answer, attribute, converted, request } from './sources.ts';

const DETAILS: UsageTable = {
  cache_read_input_tokens: ['gen_ai.usage.details.cache_read_tokens'],
  cache_creation_input_tokens: ['gen_ai.usage.details.cache_write_tokens'],
  reasoning_tokens: ['gen_ai.usage.details.reasoning_tokens'],
  input_audio_tokens: ['gen_ai.usage.details.input_audio_tokens'],
  output_audio_tokens: ['gen_ai.usage.details.output_audio_tokens'],
};

export const PYDANTIC_AI: Convention = {
  name: 'pydantic-ai',
  marks: attributesIn(DETAILS),
  scopes: ['pydantic-ai'],
  usage: {
    ...COUNTS,
    ...DETAILS,
    cache_read_input_tokens: [CACHE_READ, 'gen_ai.usage.details.cache_read_tokens'],
    cache_creation_input_tokens: [...CACHE_WRITES, 'gen_ai.usage.details.cache_write_tokens'],
  },
  cachedTokensInPrompt: true,
};

const MESSAGES = 'pydantic_ai.all_messages';
const EVENTS = ['events', 'all_messages_events'];
const RESULT = 'final_result';
const [ARGUMENTS, RESPONSE] = ['tool_arguments', 'tool_response'] as const;
const [REQUEST_DATA, RESPONSE_DATA] = ['request_data', 'response_data'] as const;
const COST = 'operation.cost';

export const PYDANTIC_AI_SPANS: Dialect = {
  name: 'pydantic-ai',
  marks: [MESSAGES, ...EVENTS, RESULT, ARGUMENTS, RESPONSE, REQUEST_DATA, RESPONSE_DATA, COST],
  leads: false,
  cost: [attribute(COST)],
  input: [
    converted(MESSAGES, (messages) => splitAtAnswer(messages)[0], 'all but the answer of'),
    ...EVENTS.map((key) => converted(key, inputOfListed, 'messages of')),
    request(REQUEST_DATA),
    attribute(ARGUMENTS),
  ],
  output: [
    converted(MESSAGES, (messages) => splitAtAnswer(messages)[1], 'the answer of'),
    attribute(RESULT),
    ...EVENTS.map((key) => converted(key, outputOfListed, 'the choice of')),
    answer(RESPONSE_DATA),
    attribute(RESPONSE),
  ],
};

type Sides = readonly [asked: LosslessJson | undefined, answered: LosslessJson | undefined];

/** Results of tools are not a question of a user, whose role they have before version 6. */
function toRole(message: LosslessJson): LosslessJson {
  if (!isObject(message) || message.role !== 'user' || !isArray(message.parts)) return message;
  const isResult = message.parts.every((part) => isObject(part) && part.type === 'tool_call_response');
  return isResult ? { ...message, role: 'tool' } : message;
}

/** A conversation ends with what the model answered, unless it was cut short. */
function splitAtAnswer(messages: LosslessJson): Sides {
  if (!isArray(messages)) return [undefined, undefined];
  const last = messages.findLastIndex((message) => !isObject(message) || message.role !== 'assistant');
  const [asked, answered] = [messages.slice(0, last + 1).map(toRole), messages.slice(last + 1)];
  return [asked.length === 0 ? undefined : asked, answered.length === 0 ? undefined : answered];
}

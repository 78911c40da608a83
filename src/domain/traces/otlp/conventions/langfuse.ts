/** Langfuse: one JSON object of counts that exclude each other. */

import type { Convention, UsageSource } from './convention.ts';

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

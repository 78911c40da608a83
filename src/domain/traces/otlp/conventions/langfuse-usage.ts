/**
 * Counts of Langfuse: one JSON object, in one of two forms. Its members exclude each other and have names of any kind
 * behind `input` and `output`; or they are what an API of OpenAI said, where totals have their details in a member.
 */

import { isObject } from '../../../../json/free-json.ts';
import type { LosslessObject } from '../../../../json/lossless-json.ts';
import { isBlank } from '../../collector/collector-json.ts';
import { createSource } from '../span-view.ts';
import type { Convention, UsageSource } from './convention.ts';
import { memberAt, sumOf } from './sources.ts';

const DETAILS = 'langfuse.observation.usage_details';

// LangChain has counts by tier beside those that they are parts of, unlike all others.
const INPUT =
  /^(?:input(?!_priority)|prompt_tokens$|cached_modality_|cache_read_input_tokens$|cache_creation_input_tokens$)/;
const OUTPUT = /^(?:output(?!_priority)|completion_tokens$)/;
const CACHE_READ = /^(?:input.*(?:cached_tokens|cache_read)|cached_modality_|cache_read_input_tokens$)/;
const CACHE_CREATION = /^(?:input.*(?:cache_creation|cache_write|ephemeral)|cache_creation_input_tokens$)/;

export const LANGFUSE: Convention = {
  name: 'Langfuse',
  marks: [DETAILS],
  usage: {
    prompt_tokens: count(INPUT, ['prompt_tokens', 'input_tokens']),
    completion_tokens: count(OUTPUT, ['completion_tokens', 'output_tokens']),
    reasoning_tokens: count(/^output.*reasoning/, [
      'completion_tokens_details.reasoning_tokens',
      'output_tokens_details.reasoning_tokens',
    ]),
    cache_read_input_tokens: count(CACHE_READ, [
      'prompt_tokens_details.cached_tokens',
      'input_tokens_details.cached_tokens',
      'cache_read_input_tokens',
    ]),
    cache_creation_input_tokens: count(CACHE_CREATION, [
      'prompt_tokens_details.cache_creation_tokens',
      'prompt_tokens_details.cache_write_tokens',
      'input_tokens_details.cache_write_tokens',
      'cache_creation_input_tokens',
    ]),
    ephemeral_5m_input_tokens: count(/(?:ephemeral|cache_creation|cache_write)_5m/, []),
    ephemeral_1h_input_tokens: count(/(?:ephemeral|cache_creation|cache_write)_1h/, []),
    input_audio_tokens: count(/^input.*audio/i, [
      'prompt_tokens_details.audio_tokens',
      'input_tokens_details.audio_tokens',
    ]),
    output_audio_tokens: count(/^output.*audio/i, [
      'completion_tokens_details.audio_tokens',
      'output_tokens_details.audio_tokens',
    ]),
    total_tokens: count(/^total(?:_tokens)?$/, ['total_tokens']),
  },
  cachedTokensInPrompt: true,
};

/** The sum of the members of these names; of what an API of OpenAI said, the first of these paths. */
function count(names: RegExp, paths: readonly string[]): readonly UsageSource[] {
  const ofOpenai = paths.length === 0 ? '' : `, or ${paths.map((path) => `\`${path}\``).join(', ')} of OpenAI`;
  const about = `members \`${names.source.replaceAll('|', '\\|')}\`${ofOpenai}, in \`${DETAILS}\``;
  const read = createSource(about, ({ span, json }) => {
    const details = json.object(span.attributes.get(DETAILS));
    if (details === undefined) return undefined;
    if (isOfOpenai(details)) return paths.map((path) => memberAt(details, path)).find((value) => !isBlank(value));
    const members = Object.entries(details).filter(([name, value]) => names.test(name) && !isObject(value));
    return sumOf(members.map(([, value]) => value));
  });
  return [read];
}

function isOfOpenai(details: LosslessObject): boolean {
  const has = (...names: readonly string[]) => names.some((name) => !isBlank(details[name]));
  if (has('input', 'output')) return false;
  if (has('prompt_tokens')) return has('total_tokens', 'prompt_tokens_details', 'completion_tokens_details');
  // Anthropic's answers have the same names, and count cached tokens beside.
  const isOfAnthropic = has('cache_read_input_tokens', 'cache_creation_input_tokens');
  return has('input_tokens') && !isOfAnthropic && has('total_tokens', 'input_tokens_details', 'output_tokens_details');
}

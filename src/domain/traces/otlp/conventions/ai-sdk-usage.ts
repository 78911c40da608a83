/** Counts of Vercel's `ai` package, and what the provider says of a call beside them. */

import { isObject } from '../../../../json/free-json.ts';
import { isBlank } from '../../collector/collector-json.ts';
import { createSource, type SpanView } from '../span-view.ts';
import { attributesIn, type Convention, type UsageSource, type UsageTable } from './convention.ts';
import { REASONING_OF_AI_SDK } from './gen-ai.ts';
import { figureOf, memberAt } from './sources.ts';

/** JSON of the provider's own package. */
export const PROVIDER_METADATA = 'ai.response.providerMetadata';

const READ_DETAIL = 'ai.usage.inputTokenDetails.cacheReadTokens';
const WRITE_DETAIL = 'ai.usage.inputTokenDetails.cacheWriteTokens';
const DETAILS = ['ai.usage.inputTokenDetails.noCacheTokens', READ_DETAIL, WRITE_DETAIL];

// `ai.usage.tokens` is what embeddings have.
const PROMPT = ['ai.usage.promptTokens', 'ai.usage.inputTokens', 'ai.usage.tokens'];
const COMPLETION = ['ai.usage.completionTokens', 'ai.usage.outputTokens'];
const MAIN_COUNTS = [...PROMPT, ...COMPLETION];

const USAGE = {
  prompt_tokens: PROMPT,
  completion_tokens: COMPLETION,
  reasoning_tokens: ['ai.usage.reasoningTokens', REASONING_OF_AI_SDK],
  cache_read_input_tokens: [
    'ai.usage.cachedInputTokens',
    READ_DETAIL,
    ofProvider('anthropic.usage.cache_read_input_tokens'),
    ofProvider('bedrock.usage.cacheReadInputTokens'),
  ],
  cache_creation_input_tokens: [
    WRITE_DETAIL,
    ofProvider('anthropic.usage.cache_creation_input_tokens'),
    ofProvider('anthropic.cacheCreationInputTokens'),
    ofProvider('bedrock.usage.cacheWriteInputTokens'),
    ofProvider('bedrock.usage.cacheCreationInputTokens'),
  ],
  ephemeral_5m_input_tokens: [ofProvider('anthropic.usage.cache_creation.ephemeral_5m_input_tokens')],
  ephemeral_1h_input_tokens: [ofProvider('anthropic.usage.cache_creation.ephemeral_1h_input_tokens')],
  total_tokens: ['ai.usage.totalTokens'],
} as const satisfies UsageTable;

export const AI_SDK: Convention = {
  name: 'AI SDK',
  marks: attributesIn(USAGE).filter((key) => key !== REASONING_OF_AI_SDK),
  signs: ['ai.operationId'],
  scopes: ['ai'],
  usage: USAGE,
  cachedTokensInPrompt: createSource(
    `part of the prompt, unless \`ai.model.provider\` is Anthropic or Bedrock, \`ai.usage.inputTokenDetails.…\` is absent and \`${PROVIDER_METADATA}\` does not show it`,
    isCachePartOfPrompt,
  ),
};

/** Beside counts of the package: alone it says less than counts of other conventions on the span. */
function ofProvider(member: string): UsageSource {
  return createSource(`\`${member}\` in \`${PROVIDER_METADATA}\`, beside other counts`, ({ span, json }) => {
    const hasCounts = MAIN_COUNTS.some((key) => !isBlank(span.attributes.get(key)));
    return hasCounts ? memberAt(json.object(span.attributes.get(PROVIDER_METADATA)), member) : undefined;
  });
}

const PROVIDERS = ['ai.model.provider', 'gen_ai.system'];
/** Their packages for version 5 pass on the input of the API, which has no cached tokens; those for version 6 add them. */
const RAW = /anthropic|bedrock/i;

function isCachePartOfPrompt(view: SpanView): boolean {
  const { attributes } = view.span;
  const provider = PROVIDERS.map((key) => attributes.get(key)).find((value) => !isBlank(value));
  if (typeof provider !== 'string' || !RAW.test(provider)) return true;
  // Version 6 has none of these for objects.
  const hasDetails = DETAILS.some((key) => !isBlank(attributes.get(key)));
  const said = memberAt(view.json.object(attributes.get(PROVIDER_METADATA)), 'anthropic.usage');
  const input = isObject(said) ? figureOf(said.input_tokens) : undefined;
  if (!isObject(said) || input === undefined) return hasDetails;
  const total =
    input + (figureOf(said.cache_read_input_tokens) ?? 0) + (figureOf(said.cache_creation_input_tokens) ?? 0);
  const prompt = PROMPT.map((key) => figureOf(attributes.get(key))).find((count) => count !== undefined);
  // The prompt of several calls is neither, because this is what was said of the last one.
  return prompt === total || (hasDetails && prompt !== input);
}

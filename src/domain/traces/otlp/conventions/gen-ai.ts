/** The semantic conventions of OpenTelemetry for generative AI, and the names that some write beside them. */

import { isBlank } from '../../collector/collector-json.ts';
import type { Attributes } from '../span.ts';
import { createSource, type SpanView } from '../span-view.ts';
import { attributesIn, type Convention, type UsageSource, type UsageTable } from './convention.ts';
import { figureOf } from './sources.ts';

/** The AI SDK writes it beside these names, and alone on spans around calls. */
export const REASONING_OF_AI_SDK = 'ai.usage.outputTokenDetails.reasoningTokens';
/** Qwen Code writes it beside these names; log records have it beside others. */
const THOUGHTS = 'thoughts_token_count';

export const COUNTS = {
  prompt_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  completion_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  reasoning_tokens: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    // Google's ADK before version 2.3.
    'gen_ai.usage.experimental.reasoning_tokens',
    REASONING_OF_AI_SDK,
    THOUGHTS,
  ],
  // Mastra has these four.
  ephemeral_5m_input_tokens: ['gen_ai.usage.cache_creation.5m_input_tokens'],
  ephemeral_1h_input_tokens: ['gen_ai.usage.cache_creation.1h_input_tokens'],
  input_audio_tokens: ['gen_ai.usage.audio_input_tokens'],
  output_audio_tokens: ['gen_ai.usage.audio_output_tokens'],
  total_tokens: ['gen_ai.usage.total_tokens'],
} as const satisfies UsageTable;

export const CACHE_READ = 'gen_ai.usage.cache_read.input_tokens';
export const CACHE_WRITES = [
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_write.input_tokens',
] as const;

/** Names of OpenLLMetry and of Strands. */
const UNDERSCORED_READ = 'gen_ai.usage.cache_read_input_tokens';
const UNDERSCORED_WRITES = ['gen_ai.usage.cache_creation_input_tokens', 'gen_ai.usage.cache_write_input_tokens'];
const EARLIER_READS = ['gen_ai.usage.cached_input_tokens', 'gen_ai.usage.cached_tokens'];

/** Names of OpenLLMetry before these; on a span without any of these they are a convention of their own. */
export const LLM_USAGE_COUNTS = {
  prompt_tokens: ['llm.usage.prompt_tokens'],
  completion_tokens: ['llm.usage.completion_tokens'],
  total_tokens: ['llm.usage.total_tokens'],
} as const satisfies UsageTable;

const OWN = {
  ...COUNTS,
  cache_read_input_tokens: [CACHE_READ, UNDERSCORED_READ, ...EARLIER_READS],
  cache_creation_input_tokens: [...CACHE_WRITES, ...UNDERSCORED_WRITES],
} as const satisfies UsageTable;

/** Every name, because instrumentations mix those of several versions. */
export const ALL_NAMES = {
  ...OWN,
  prompt_tokens: [...COUNTS.prompt_tokens, ...LLM_USAGE_COUNTS.prompt_tokens],
  completion_tokens: [...COUNTS.completion_tokens, ...LLM_USAGE_COUNTS.completion_tokens],
  total_tokens: [...COUNTS.total_tokens, ...LLM_USAGE_COUNTS.total_tokens],
} as const satisfies UsageTable;

const MODEL = 'gen_ai.request.model';
const GOOGLE_SCOPES: ReadonlySet<string> = new Set([
  'opentelemetry.instrumentation.google_generativeai',
  'opentelemetry.instrumentation.vertexai',
  '@traceloop/instrumentation-google-generativeai',
  '@traceloop/instrumentation-vertexai',
]);

/** OpenLLMetry counts the thoughts of Gemini in the total alone. */
const THOUGHTS_IN_TOTAL: UsageSource = createSource(
  `what the total has beyond prompt and completion, where the scope is ${[...GOOGLE_SCOPES].map((scope) => `\`${scope}\``).join(' or ')}, and the model is not of Anthropic`,
  ({ span: { attributes, scope } }) => {
    // A total of Claude may have cached tokens that are counted beside the prompt.
    if (!GOOGLE_SCOPES.has(scope.name) || /claude/i.test(String(attributes.get(MODEL)))) return undefined;
    const [prompt, completion, total] = [
      figureAt(attributes, ALL_NAMES.prompt_tokens),
      figureAt(attributes, ALL_NAMES.completion_tokens),
      figureAt(attributes, ALL_NAMES.total_tokens),
    ];
    if (prompt === undefined || completion === undefined || total === undefined) return undefined;
    const rest = total - prompt - completion;
    return rest > 0 ? rest : undefined;
  },
);

function figureAt(attributes: Attributes, keys: readonly string[]): number | undefined {
  return figureOf(keys.map((key) => attributes.get(key)).find((value) => !isBlank(value)));
}

const DOTTED: readonly string[] = [CACHE_READ, ...CACHE_WRITES];
const UNDERSCORED: readonly string[] = [UNDERSCORED_READ, ...UNDERSCORED_WRITES];

export const GEN_AI: Convention = {
  name: 'OpenTelemetry GenAI',
  marks: attributesIn(OWN).filter((key) => key !== REASONING_OF_AI_SDK && key !== THOUGHTS),
  usage: { ...ALL_NAMES, reasoning_tokens: [...COUNTS.reasoning_tokens, THOUGHTS_IN_TOTAL] },
  cachedTokensInPrompt: createSource(
    `part of the prompt where ${DOTTED.map((key) => `\`${key}\``).join(', ')} count them, else what the price list says of the model`,
    (view) => (isDotted(nameOfCache(view)) ? true : undefined),
  ),
  cachedTokensInPromptOfClaude: createSource(
    `beside the prompt where ${UNDERSCORED.map((key) => `\`${key}\``).join(', ')} count them`,
    (view) => {
      const name = nameOfCache(view);
      return isDotted(name) ? true : name !== undefined && UNDERSCORED.includes(name) ? false : undefined;
    },
  ),
};

/** The convention says that input tokens include cached ones, and these names are only used together with it. */
function isDotted(name: string | undefined): boolean {
  return name !== undefined && DOTTED.includes(name);
}

/** The name that counts cached tokens. One without any is often written beside it. */
function nameOfCache({ span: { attributes } }: SpanView): string | undefined {
  let empty: string | undefined;
  for (const name of CACHE_NAMES) {
    const count = attributes.get(name);
    if (Number(count) > 0) return name;
    if (!isBlank(count)) empty ??= name;
  }
  return empty;
}

const CACHE_NAMES = [...DOTTED, ...UNDERSCORED, ...EARLIER_READS];

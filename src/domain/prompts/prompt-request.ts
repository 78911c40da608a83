/** A prompt as the request of a model provider, and the answer of a provider as text. */

import { chooseProviders, DIALECTS, listReachable } from '../gateway/provider-choice.ts';
import { vendorOf } from '../gateway/proxied-request.ts';
import type { ModelProviderRecord } from '../model-providers/model-provider.ts';
import type { VirtualKeyConfig } from '../virtual-keys/virtual-key.ts';
import { type PromptConfig, responseFormatOf } from './prompt-config.ts';

type Reach = {
  readonly config: Pick<VirtualKeyConfig, 'modelsAllowed' | 'providers'>;
  readonly projectId: string;
  readonly providers: readonly ModelProviderRecord[];
};

export type PromptRequest = { readonly kind: 'chat' | 'messages'; readonly body: string };

/** In the dialect of the provider that has the model. The texts of the prompt are rendered. */
export function requestOf(prompt: PromptConfig, reach: Reach): PromptRequest {
  const { provider, model } = findProvider(prompt.model, reach);
  const asked = { ...prompt, model };
  if (provider !== null && DIALECTS[provider.kind] === 'anthropic') {
    return { kind: 'messages', body: JSON.stringify(messagesBody(asked)) };
  }
  // Of the others, not all know the newer name.
  const maxName = provider?.kind === 'openai_compatible' ? 'max_tokens' : 'max_completion_tokens';
  return { kind: 'chat', body: JSON.stringify(chatBody(asked, maxName)) };
}

type Target = { readonly provider: ModelProviderRecord | null; readonly model: string };

/**
 * Prompts name models as `vendor/model`. Where no provider has the name of the vendor, its first one counts. Of providers that
 * have a model by its bare name, those that list it count before those that are used for all. Null: none has it, as the
 * gateway will say.
 */
function findProvider(model: string, reach: Reach): Target {
  const reachable = listReachable(reach);
  const named = reachable.find(({ name }) => model.startsWith(`${name}/`));
  if (named !== undefined) return { provider: named, model };
  const [vendor = '', ...rest] = model.split('/');
  const ofVendor = rest.length === 0 ? undefined : reachable.find(({ kind }) => vendorOf(kind) === vendor);
  if (ofVendor !== undefined) return { provider: ofVendor, model: `${ofVendor.name}/${rest.join('/')}` };
  const having = (['openai', 'anthropic'] as const).flatMap((dialect) => {
    const chosen = chooseProviders({ ...reach, model, dialect });
    return 'code' in chosen ? [] : chosen.slice(0, 1).map(({ provider }) => provider);
  });
  const listing = having.find(({ models, aliases }) => models !== null || Object.hasOwn(aliases, model));
  return { provider: listing ?? having[0] ?? null, model };
}

function chatBody(prompt: PromptConfig, maxName: string) {
  const format = responseFormatOf(prompt);
  return withoutNulls({
    model: prompt.model,
    messages: [{ role: 'system', content: prompt.prompt }, ...prompt.messages],
    [maxName]: prompt.maxTokens,
    temperature: prompt.temperature,
    top_p: prompt.topP,
    frequency_penalty: prompt.frequencyPenalty,
    presence_penalty: prompt.presencePenalty,
    seed: prompt.seed,
    top_k: prompt.topK,
    min_p: prompt.minP,
    repetition_penalty: prompt.repetitionPenalty,
    reasoning_effort: prompt.reasoning,
    verbosity: prompt.verbosity,
    response_format: format === null ? null : JSON.parse(format),
  });
}

/** What Anthropic's API requires of every request. */
const MAX_TOKENS = 4_096;

function messagesBody(prompt: PromptConfig) {
  const { messages } = prompt;
  const texts =
    messages.length > 0
      ? { system: prompt.prompt, messages }
      : { system: null, messages: [{ role: 'user', content: prompt.prompt }] };
  return withoutNulls({
    model: prompt.model,
    ...texts,
    max_tokens: prompt.maxTokens ?? MAX_TOKENS,
    temperature: prompt.temperature,
    top_p: prompt.topP,
    top_k: prompt.topK,
  });
}

function withoutNulls(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

type Answer = {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown; readonly refusal?: unknown } }[];
  readonly content?: readonly { readonly text?: unknown }[];
  readonly error?: { readonly message?: unknown };
};

/** The text of an answer; null where it has none that can be read. */
export function outputOf(kind: PromptRequest['kind'], bytes: Buffer): string | null {
  const answer = readJson(bytes);
  if (kind === 'messages') {
    const parts = Array.isArray(answer.content) ? answer.content : [];
    return parts.length === 0 ? null : parts.map((part) => textOf(part?.text) ?? '').join('');
  }
  const message = Array.isArray(answer.choices) ? answer.choices[0]?.message : undefined;
  return textOf(message?.content) ?? textOf(message?.refusal);
}

/** What a provider says is wrong; both dialects say it in the same place. */
export function errorMessageOf(bytes: Buffer): string | null {
  return textOf(readJson(bytes).error?.message);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function readJson(bytes: Buffer): Answer {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

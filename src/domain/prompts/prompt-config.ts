/** The content of a version, and how what clients send becomes one. */

import { Fault, type Reason, validationFault } from '../fault.ts';
import { customReason } from '../reasons.ts';

export type PromptMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

export type PromptInputType =
  | ('str' | 'float' | 'bool' | 'image' | 'list' | 'list_str' | 'list_float' | 'list_int' | 'list_bool')
  | ('dict' | 'chat_messages');

export type PromptInput = { readonly identifier: string; readonly type: PromptInputType };

export type PromptOutput = {
  readonly identifier: string;
  readonly type: 'str' | 'float' | 'bool' | 'json_schema';
  readonly jsonSchemaJson: string | null;
};

/** Null: not set. */
export type PromptConfig = {
  /** The system prompt. */
  readonly prompt: string;
  /** Without a system message. */
  readonly messages: readonly PromptMessage[];
  readonly inputs: readonly PromptInput[];
  readonly outputs: readonly PromptOutput[];
  readonly model: string;
} & PromptSettings;

export type PromptSettings = {
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  readonly seed: number | null;
  readonly topK: number | null;
  readonly minP: number | null;
  readonly repetitionPenalty: number | null;
  readonly reasoning: string | null;
  readonly verbosity: string | null;
  readonly demonstrationsJson: string | null;
  readonly promptingTechniqueJson: string | null;
  /** Unset, it follows from the outputs; older versions do not have the member. */
  readonly responseFormatJson: string | null;
};

/** What is sent of a content; null: not sent. */
export type ConfigDraft = { readonly [Part in keyof PromptConfig]: PromptConfig[Part] | null };

export const NO_SETTINGS: PromptSettings = {
  temperature: null,
  maxTokens: null,
  topP: null,
  frequencyPenalty: null,
  presencePenalty: null,
  seed: null,
  topK: null,
  minP: null,
  repetitionPenalty: null,
  reasoning: null,
  verbosity: null,
  demonstrationsJson: null,
  promptingTechniqueJson: null,
  responseFormatJson: null,
};

/** What LangWatch's clients expect of a prompt that names no model. */
const MODEL = 'openai/gpt-5';
const INPUTS: readonly PromptInput[] = [{ identifier: 'input', type: 'str' }];
const OUTPUTS: readonly PromptOutput[] = [{ identifier: 'output', type: 'str', jsonSchemaJson: null }];
const CONTENT_MAX_BYTES = 131_072;

/** The content of a new prompt. Throws system_prompt_required and system_prompt_conflict. */
export function newConfig(draft: ConfigDraft): PromptConfig {
  const { prompt, messages } = liftSystemMessage(draft);
  if (prompt === null || prompt === '') throw new Fault('system_prompt_required', 'A prompt needs a system prompt.');
  return {
    ...draft,
    prompt,
    messages: messages ?? [],
    inputs: draft.inputs ?? INPUTS,
    outputs: draft.outputs ?? OUTPUTS,
    model: draft.model ?? MODEL,
  };
}

/** A setting that a change can unset. */
export type ClearedSetting = 'temperature' | 'maxTokens';

/** The stored content without what is cleared, and with what is sent in its place. Throws system_prompt_conflict. */
export function changedConfig(
  stored: PromptConfig,
  draft: ConfigDraft,
  cleared: readonly ClearedSetting[],
): PromptConfig {
  const sent = Object.entries({ ...draft, ...liftSystemMessage(draft) }).filter(([, value]) => value !== null);
  const unset = Object.fromEntries(cleared.map((name) => [name, null]));
  // The kept format is one for the earlier outputs.
  const format = draft.outputs === null ? {} : { responseFormatJson: null };
  return { ...stored, ...unset, ...format, ...Object.fromEntries(sent) };
}

type Texts = Pick<ConfigDraft, 'prompt' | 'messages'>;

/** Moves a system message into the prompt. Throws system_prompt_conflict where both are there and differ. */
export function liftSystemMessage({ prompt, messages }: Texts): Texts {
  const system = messages?.find(({ role }) => role === 'system');
  if (system === undefined) return { prompt, messages };
  if (prompt !== null && prompt !== '' && prompt !== system.content) {
    throw new Fault('system_prompt_conflict', 'Send the system prompt as prompt or as a system message, not as both.');
  }
  return { prompt: system.content, messages: messages?.filter((message) => message !== system) ?? null };
}

/** The problems that no rule of a single field finds. `at` is the path of the object that has the content. */
export function configProblems(
  draft: Pick<ConfigDraft, 'messages' | 'inputs' | 'outputs'>,
  at = '',
): readonly Reason[] {
  const systems = draft.messages?.filter(({ role }) => role === 'system').length ?? 0;
  return [
    ...(systems > 1 ? [customReason(`${at}messages`, 'messages may have one system message')] : []),
    ...repeatedNames(draft.inputs ?? [], `${at}inputs`),
    ...repeatedNames(draft.outputs ?? [], `${at}outputs`),
  ];
}

function repeatedNames(named: readonly { readonly identifier: string }[], path: string): readonly Reason[] {
  const names = named.map(({ identifier }) => identifier);
  const at = names.findIndex((name, index) => names.indexOf(name) < index);
  return at < 0 ? [] : [customReason(`${path}.${at}.identifier`, `${path}.${at}.identifier is that of another one`)];
}

/** Throws validation_error for a version that is too large. */
export function requireSize(config: PromptConfig, parametersJson: string): void {
  if (Buffer.byteLength(JSON.stringify(config)) + Buffer.byteLength(parametersJson) <= CONTENT_MAX_BYTES) return;
  throw validationFault('json', [
    customReason('(root)', `A version has at most ${CONTENT_MAX_BYTES} bytes, with all its texts and parameters`),
  ]);
}

/** The response format for a provider: that of the file, or else the one of the output with a JSON schema. */
export function responseFormatOf({
  responseFormatJson = null,
  outputs,
}: Pick<PromptConfig, 'outputs'> & Partial<Pick<PromptConfig, 'responseFormatJson'>>): string | null {
  if (responseFormatJson !== null) return responseFormatJson;
  const output = outputs.find(({ type, jsonSchemaJson }) => type === 'json_schema' && jsonSchemaJson !== null);
  if (output === undefined) return null;
  const name = JSON.stringify(output.identifier);
  return `{"type":"json_schema","json_schema":{"name":${name},"schema":${output.jsonSchemaJson}}}`;
}

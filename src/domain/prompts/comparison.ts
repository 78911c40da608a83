/** Compares the content of a local file with versions of a prompt, and decides what a sync does. */

import { canonicalJson } from '../../json/canonical-json.ts';
import type { PromptConfig, PromptInput, PromptOutput } from './prompt-config.ts';
import { liftSystemMessage, responseFormatOf } from './prompt-config.ts';
import { templateVariables } from './template-variables.ts';

/** The content of a version or of a file. `parametersJson` of a file is null where it has none to compare. */
type Content = { readonly config: PromptConfig; readonly parametersJson: string | null };

type Numbered = Content & { readonly version: number };

export type SyncFacts = {
  readonly local: Content;
  /** The version that the file was made from; null: not known. */
  readonly localVersion: number | null;
  readonly newest: Numbered;
  /** The version with the number `localVersion`, where it is older than the newest one and exists. */
  readonly base: Content | null;
};

export type SyncDecision =
  | { readonly action: 'up_to_date' }
  | { readonly action: 'updated'; readonly differences: readonly string[] }
  | { readonly action: 'conflict'; readonly differences: readonly string[] };

/** What a sync does with a prompt that exists. */
export function decideSync({ local, localVersion, newest, base }: SyncFacts): SyncDecision {
  const differences = differencesOf(local, newest);
  if (localVersion === newest.version) {
    return differences.length === 0 ? { action: 'up_to_date' } : { action: 'updated', differences };
  }
  // The file was not changed since it was made, so the prompt alone has something new.
  if (localVersion !== null && localVersion < newest.version && base !== null) {
    if (differencesOf(local, base).length === 0) return { action: 'up_to_date' };
  }
  return { action: 'conflict', differences };
}

/** A content in the form in which it is compared; a file is stored in this form, too. */
export function normalizeConfig(config: PromptConfig): PromptConfig {
  const lifted = liftSystemMessage(config);
  const prompt = lifted.prompt ?? '';
  const messages = lifted.messages ?? [];
  const texts = [prompt, ...messages.map(({ content }) => content)];
  return { ...config, prompt, messages, inputs: completeInputs(config.inputs, texts) };
}

/** Adds the variables of the texts, and sorts all by name, `input` first. */
function completeInputs(inputs: readonly PromptInput[], texts: readonly string[]): readonly PromptInput[] {
  const byName = new Map(inputs.map((input) => [input.identifier, input]));
  for (const identifier of texts.flatMap(templateVariables)) {
    if (!byName.has(identifier)) byName.set(identifier, { identifier, type: 'str' });
  }
  return [...byName.values()].sort((one, another) => rankOf(one) - rankOf(another) || compareNames(one, another));
}

function rankOf({ identifier }: PromptInput): number {
  return identifier === 'input' ? 0 : 1;
}

function compareNames(one: PromptInput, another: PromptInput): number {
  if (one.identifier === another.identifier) return 0;
  return one.identifier < another.identifier ? -1 : 1;
}

/** The longest values that a difference repeats. */
const SHOWN_CHARACTERS_MAX = 100;

/** One sentence for each part that differs; none where the contents are equal. */
export function differencesOf(local: Content, remote: Content): readonly string[] {
  const [one, another] = [normalizeConfig(local.config), normalizeConfig(remote.config)];
  return [
    ...changedValue('model', one.model, another.model),
    ...(one.prompt === another.prompt ? [] : ['prompt content differs']),
    ...(isSame(one.messages, another.messages) ? [] : ['messages differ']),
    ...(isSame(one.inputs, another.inputs) ? [] : ['inputs differ']),
    ...(isSame(one.outputs.map(comparableOutput), another.outputs.map(comparableOutput)) ? [] : ['outputs differ']),
    ...SETTINGS.flatMap(([name, setting]) => changedValue(name, one[setting], another[setting])),
    ...JSON_SETTINGS.flatMap(([name, setting]) =>
      isSameJson(one[setting], another[setting]) ? [] : [`${name} differ`],
    ),
    ...(isSameJson(responseFormatOf(one), responseFormatOf(another)) ? [] : ['response_format differs']),
    ...(local.parametersJson === null ? [] : differentParameters(local.parametersJson, remote.parametersJson ?? '{}')),
  ];
}

const SETTINGS = [
  ['temperature', 'temperature'],
  ['max_tokens', 'maxTokens'],
  ['top_p', 'topP'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
  ['seed', 'seed'],
  ['top_k', 'topK'],
  ['min_p', 'minP'],
  ['repetition_penalty', 'repetitionPenalty'],
  ['reasoning', 'reasoning'],
  ['verbosity', 'verbosity'],
] as const;

const JSON_SETTINGS = [
  ['demonstrations', 'demonstrationsJson'],
  ['prompting_technique', 'promptingTechniqueJson'],
] as const;

type Value = string | number | null;

function changedValue(name: string, local: Value, remote: Value): readonly string[] {
  return local === remote ? [] : [describeChange(name, String(local ?? 'unset'), String(remote ?? 'unset'))];
}

function describeChange(name: string, local: string, remote: string): string {
  return `${cut(name)}: ${cut(local)} → ${cut(remote)}`;
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX).toWellFormed()}…`;
}

function isSame(one: object, another: object): boolean {
  return JSON.stringify(one) === JSON.stringify(another);
}

function comparableOutput({ identifier, type, jsonSchemaJson }: PromptOutput) {
  return [identifier, type, jsonSchemaJson === null ? null : canonical(jsonSchemaJson)];
}

function isSameJson(one: string | null, another: string | null): boolean {
  return one === another || (one !== null && another !== null && canonical(one) === canonical(another));
}

/** The order of members and the spelling of numbers make no difference. */
function canonical(json: string): string {
  return canonicalJson(JSON.parse(json));
}

const PARAMETERS_LISTED_MAX = 20;

function differentParameters(localJson: string, remoteJson: string): readonly string[] {
  const [local, remote] = [readParameters(localJson), readParameters(remoteJson)];
  const names = [...new Set([...local.keys(), ...remote.keys()])].filter(
    (name) => local.get(name) !== remote.get(name),
  );
  return names
    .slice(0, PARAMETERS_LISTED_MAX)
    .map((name) => describeChange(name, local.get(name) ?? 'unset', remote.get(name) ?? 'unset'));
}

function readParameters(json: string): ReadonlyMap<string, string> {
  return new Map(Object.entries<never>(JSON.parse(json)).map(([name, value]) => [name, canonicalJson(value)]));
}

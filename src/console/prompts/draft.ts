/** The content of a prompt in the editor, and as it is sent. */

import {
  type Prompt,
  PromptInputType,
  type PromptMessage,
  PromptMessageRole,
} from '../../../gen/spandrel/v1/prompts_pb.js';
import { templateVariables } from '../../domain/prompts/template-variables.ts';

export type DraftMessage = {
  /** For React: messages have no ids. */
  readonly key: number;
  readonly role: PromptMessageRole;
  readonly content: string;
};

export type PromptDraft = {
  /** The system message, which every prompt has. */
  readonly system: string;
  readonly messages: readonly DraftMessage[];
  readonly model: string;
  /** Numbers as they are typed; empty: not set. */
  readonly temperature: string;
  readonly maxTokens: string;
  /** JSON. */
  readonly parameters: string;
  /** The variables that are declared, by name; those of the texts are `str` without being so. */
  readonly types: { readonly [name: string]: PromptInputType };
};

export const NEW_DRAFT: PromptDraft = {
  system: '',
  messages: [{ key: 0, role: PromptMessageRole.USER, content: '{{input}}' }],
  model: 'openai/gpt-5',
  temperature: '',
  maxTokens: '',
  parameters: '{}',
  types: {},
};

export function toDraft(prompt: Prompt): PromptDraft {
  const { temperature, maxTokens, inputs, parametersJson, model } = prompt;
  const messages = prompt.messages.filter(({ role }) => role !== PromptMessageRole.SYSTEM);
  return {
    system: prompt.prompt,
    messages: messages.map(({ role, content = '' }, key) => ({ key, role, content })),
    model,
    temperature: temperature === undefined ? '' : String(temperature),
    maxTokens: maxTokens === undefined ? '' : String(maxTokens),
    parameters: parametersJson,
    types: Object.fromEntries(inputs.map(({ identifier = '', type }) => [identifier, type])),
  };
}

export type Variable = {
  readonly name: string;
  readonly type: PromptInputType;
  /** Whether a text uses it: else it is only declared. */
  readonly isUsed: boolean;
};

/** Those of the texts first, in the order of their use. */
export function variablesOf({ system, messages, types }: PromptDraft): readonly Variable[] {
  const used = new Set([system, ...messages.map(({ content }) => content)].flatMap(templateVariables));
  const declared = Object.keys(types).filter((name) => !used.has(name));
  return [...used, ...declared].map((name) => ({
    name,
    type: types[name] ?? PromptInputType.STR,
    isUsed: used.has(name),
  }));
}

/** As a new version of a prompt. */
export function toContent(draft: PromptDraft) {
  const { temperature, maxTokens } = draft;
  return {
    model: draft.model.trim(),
    ...(temperature.trim() !== '' && { temperature: Number(temperature) }),
    ...(maxTokens.trim() !== '' && { maxTokens: Number(maxTokens) }),
    clear: [...(temperature.trim() === '' ? ['temperature'] : []), ...(maxTokens.trim() === '' ? ['maxTokens'] : [])],
    prompt: draft.system,
    messages: { messages: draft.messages.map(({ role, content }) => ({ role, content })) },
    inputs: { inputs: variablesOf(draft).map(({ name, type }) => ({ identifier: name, type })) },
    parametersJson: draft.parameters.trim() === '' ? '{}' : draft.parameters,
  };
}

/** What keeps a draft from being sent; null: nothing. */
export function problemOf({ system, model, parameters, temperature, maxTokens }: PromptDraft): string | null {
  if (system.trim() === '') return 'The system message is empty.';
  if (model.trim() === '') return 'The model is empty.';
  if (!Number.isFinite(Number(temperature))) return 'The temperature is not a number.';
  if (maxTokens.trim() !== '' && !/^[1-9]\d*$/.test(maxTokens.trim()))
    return 'Max tokens is not a whole number from 1.';
  return isObject(parameters) ? null : 'The parameters are not a JSON object.';
}

function isObject(json: string): boolean {
  if (json.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

type TypeOption = readonly [type: PromptInputType, label: string];

export const TYPES: readonly TypeOption[] = [
  [PromptInputType.STR, 'text'],
  [PromptInputType.FLOAT, 'number'],
  [PromptInputType.BOOL, 'true or false'],
  [PromptInputType.IMAGE, 'picture'],
  [PromptInputType.LIST, 'list'],
  [PromptInputType.LIST_STR, 'list of texts'],
  [PromptInputType.LIST_FLOAT, 'list of numbers'],
  [PromptInputType.LIST_INT, 'list of whole numbers'],
  [PromptInputType.LIST_BOOL, 'list of true or false'],
  [PromptInputType.DICT, 'object'],
  [PromptInputType.CHAT_MESSAGES, 'chat messages'],
];

const TEXTS: ReadonlySet<PromptInputType> = new Set([PromptInputType.STR, PromptInputType.IMAGE]);

/** Whether values are typed as JSON. */
export function isJsonType(type: PromptInputType): boolean {
  return !TEXTS.has(type);
}

export type Values = { readonly [name: string]: string };

/** The values as they are sent, or what is wrong with the first of them. */
export function toVariables(variables: readonly Variable[], values: Values): { readonly json: string } | string {
  const members: [name: string, value: unknown][] = [];
  for (const { name, type } of variables) {
    const text = values[name] ?? '';
    if (text === '') continue;
    if (!isJsonType(type)) members.push([name, text]);
    else {
      try {
        members.push([name, JSON.parse(text)]);
      } catch {
        return `The value of ${name} is not JSON.`;
      }
    }
  }
  return { json: JSON.stringify(Object.fromEntries(members)) };
}

export const ROLES: readonly (readonly [role: PromptMessageRole, label: string])[] = [
  [PromptMessageRole.USER, 'User'],
  [PromptMessageRole.ASSISTANT, 'Assistant'],
];

export function roleName({ role }: Pick<PromptMessage, 'role'>): string {
  if (role === PromptMessageRole.SYSTEM) return 'System';
  return ROLES.find(([each]) => each === role)?.[1] ?? 'Message';
}

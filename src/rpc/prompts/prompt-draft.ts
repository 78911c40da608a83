/** What requests send of the content of prompts, and its problems. */

import { create } from '@bufbuild/protobuf';
import {
  type PromptConfig as ConfigMessage,
  type PromptInput as InputMessage,
  type PromptMessage as MessageMessage,
  type PromptOutput as OutputMessage,
  type PromptDraft,
  PromptDraftSchema,
  PromptInputType,
  PromptMessageRole,
  PromptOutputType,
} from '../../../gen/spandrel/v1/prompts_pb.js';
import type { Reason } from '../../domain/fault.ts';
import {
  type ClearedSetting,
  configProblems,
  NO_SETTINGS,
  type PromptConfig,
  type PromptInput,
  type PromptMessage,
  type PromptOutput,
} from '../../domain/prompts/prompt-config.ts';
import type { VersionDraft } from '../../domain/prompts/prompt-versions.ts';
import { customReason } from '../../domain/reasons.ts';
import { findJsonProblem } from '../../json/bounded-json.ts';
import { wordOf } from '../enums.ts';

const NOTHING = create(PromptDraftSchema);

/** What a request sends of a new version. */
export function readDraft(draft: PromptDraft = NOTHING): VersionDraft {
  return {
    config: {
      ...NO_SETTINGS,
      model: draft.model ?? null,
      temperature: draft.temperature ?? null,
      maxTokens: draft.maxTokens ?? null,
      prompt: draft.prompt ?? null,
      messages: draft.messages?.messages.map(readMessage) ?? null,
      inputs: draft.inputs?.inputs.map(readInput) ?? null,
      outputs: draft.outputs?.outputs.map(readOutput) ?? null,
    },
    // A rule of the contract lets no others through.
    cleared: draft.clear as ClearedSetting[],
    parametersJson: draft.parametersJson ?? null,
    commitMessage: draft.commitMessage ?? null,
    authorId: draft.authorId ?? null,
    tags: draft.tags,
  };
}

/** The content of a local file. */
export function readConfig(sent: ConfigMessage): PromptConfig {
  const settings = Object.keys(NO_SETTINGS).map((name) => [name, sent[name as keyof typeof NO_SETTINGS] ?? null]);
  return {
    ...NO_SETTINGS,
    ...Object.fromEntries(settings),
    seed: sent.seed === undefined ? null : Number(sent.seed),
    responseFormatJson: isEmptyObject(sent.responseFormatJson) ? null : (sent.responseFormatJson ?? null),
    prompt: sent.prompt ?? '',
    messages: sent.messages.map(readMessage),
    inputs: sent.inputs.map(readInput),
    outputs: sent.outputs.map(readOutput),
    model: sent.model ?? '',
  };
}

/** Clients send an empty format for none. */
function isEmptyObject(json: string | undefined): boolean {
  return json !== undefined && /^\s*\{\s*\}\s*$/.test(json);
}

function readMessage({ role, content = '' }: MessageMessage): PromptMessage {
  return { role: wordOf(PromptMessageRole, role) ?? 'user', content };
}

function readInput({ identifier = '', type }: InputMessage): PromptInput {
  return { identifier, type: wordOf(PromptInputType, type) ?? 'str' };
}

function readOutput({ identifier = '', type, jsonSchemaJson }: OutputMessage): PromptOutput {
  return { identifier, type: wordOf(PromptOutputType, type) ?? 'str', jsonSchemaJson: jsonSchemaJson ?? null };
}

const DEPTH_MAX = 32;
const MEMBERS_MAX = 1000;

/** The problems of JSON that must be an object; unset has none. */
export function objectProblems(path: string, json: string | undefined): readonly Reason[] {
  if (json === undefined) return [];
  if (findJsonProblem(json, { depth: DEPTH_MAX, members: MEMBERS_MAX }) === null && json.trimStart().startsWith('{')) {
    return [];
  }
  const message = `${path} must be a JSON object of at most ${DEPTH_MAX} levels and ${MEMBERS_MAX} members in each object`;
  return [customReason(path, message)];
}

function schemaProblems(outputs: readonly OutputMessage[], at: string): readonly Reason[] {
  return outputs.flatMap(({ jsonSchemaJson }, index) =>
    objectProblems(`${at}outputs.${index}.json_schema`, jsonSchemaJson),
  );
}

/** The problems of a draft that no rule of a single field finds. */
export function draftProblems(draft: PromptDraft | undefined, at = ''): readonly Reason[] {
  if (draft === undefined) return [];
  return [
    ...configProblems(readDraft(draft).config, at),
    ...numberProblems(draft, at),
    ...schemaProblems(draft.outputs?.outputs ?? [], at),
    ...objectProblems(`${at}parameters`, draft.parametersJson),
  ];
}

const VARIABLES_MAX_BYTES = 262_144;

/** The problems of the values of variables. */
export function variablesProblems(json: string | undefined): readonly Reason[] {
  if (json === undefined || Buffer.byteLength(json) <= VARIABLES_MAX_BYTES) return objectProblems('variables', json);
  return [customReason('variables', `variables must have at most ${VARIABLES_MAX_BYTES} bytes of JSON`)];
}

/** The same of the content of a local file. */
export function configMessageProblems(sent: ConfigMessage): readonly Reason[] {
  const at = 'configData.';
  return [
    ...configProblems(readConfig(sent), at),
    ...numberProblems(sent, at),
    ...seedProblems(sent, at),
    ...schemaProblems(sent.outputs, at),
    ...objectProblems(`${at}demonstrations`, sent.demonstrationsJson),
    ...objectProblems(`${at}prompting_technique`, sent.promptingTechniqueJson),
    ...objectProblems(`${at}response_format`, sent.responseFormatJson),
  ];
}

function seedProblems({ seed }: ConfigMessage, at: string): readonly Reason[] {
  if (seed === undefined || Number.isSafeInteger(Number(seed))) return [];
  return [customReason(`${at}seed`, `${at}seed must be from -(2^53 - 1) to 2^53 - 1`)];
}

/** Messages can hold numbers that are none in JSON. */
function numberProblems(sent: object, at: string): readonly Reason[] {
  return Object.entries(sent)
    .filter(([, value]) => typeof value === 'number' && !Number.isFinite(value))
    .map(([name]) => customReason(`${at}${name}`, `${at}${name} must be a finite number`));
}

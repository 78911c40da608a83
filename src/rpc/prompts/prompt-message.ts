/** Prompts as messages. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type PromptConfigSchema,
  PromptInputType,
  PromptMessageRole,
  PromptOutputType,
  type PromptSchema,
  PromptScope,
  type TryPromptResponseSchema,
} from '../../../gen/spandrel/v1/prompts_pb.js';
import type { VersionedPrompt } from '../../domain/prompts/prompt.ts';
import {
  type PromptConfig,
  type PromptInput,
  type PromptMessage,
  type PromptOutput,
  responseFormatOf,
} from '../../domain/prompts/prompt-config.ts';
import { LATEST } from '../../domain/prompts/prompt-names.ts';
import type { Tried } from '../../domain/prompts/prompt-try.ts';
import { numbersOf } from '../enums.ts';
import { unsetNulls } from '../field-values.ts';

const ROLES = numbersOf(PromptMessageRole);
const INPUTS = numbersOf(PromptInputType);
const OUTPUTS = numbersOf(PromptOutputType);

/** The message of a version. */
export function toMessage(
  { prompt, version, tags }: VersionedPrompt,
  platformUrl: string,
): MessageInitShape<typeof PromptSchema> {
  const { config } = version;
  const latest = version.id === prompt.versionId ? [{ name: LATEST, versionId: version.id }] : [];
  return unsetNulls({
    id: prompt.id,
    handle: prompt.handle,
    name: prompt.handle,
    scope: PromptScope[prompt.scope],
    updatedAt: timestampFromMs(prompt.updatedAtMs),
    projectId: prompt.projectId,
    organizationId: prompt.organizationId,
    versionId: version.id,
    authorId: version.authorId,
    version: version.version,
    createdAt: timestampFromMs(version.createdAtMs),
    commitMessage: version.commitMessage,
    prompt: config.prompt,
    messages: [{ role: PromptMessageRole.SYSTEM, content: config.prompt }, ...config.messages.map(messageOf)],
    inputs: config.inputs.map(inputOf),
    outputs: config.outputs.map(outputOf),
    model: config.model,
    temperature: config.temperature,
    maxTokens: config.maxTokens,
    demonstrationsJson: config.demonstrationsJson,
    promptingTechniqueJson: config.promptingTechniqueJson,
    responseFormatJson: responseFormatOf(config),
    tags: [...latest, ...tags],
    parametersJson: version.parametersJson,
    platformUrl,
  });
}

/** The content of a version under the names of local files. */
export function toConfigMessage(config: PromptConfig): MessageInitShape<typeof PromptConfigSchema> {
  const { messages, inputs, outputs, seed, ...others } = config;
  return unsetNulls({
    ...others,
    messages: messages.map(messageOf),
    inputs: inputs.map(inputOf),
    outputs: outputs.map(outputOf),
    seed: seed === null ? null : BigInt(seed),
  });
}

/** What came of a prompt that was tried. */
export function toTriedMessage({
  output,
  error,
  answer,
  durationMs,
}: Tried): MessageInitShape<typeof TryPromptResponseSchema> {
  const { usage = null, cost = null, traceId = null, target = null } = answer.account ?? {};
  return unsetNulls({
    ...{ output, error, traceId },
    ...(target ?? { model: null, provider: null }),
    inputTokens: usage && BigInt(usage.inputTokens),
    outputTokens: usage && BigInt(usage.outputTokens),
    cost: cost && cost.nanoUsd / NANO_PER_USD,
    durationMs: BigInt(durationMs),
  });
}

const NANO_PER_USD = 1e9;

function messageOf({ role, content }: PromptMessage) {
  return { role: ROLES[role], content };
}

function inputOf({ identifier, type }: PromptInput) {
  return { identifier, type: INPUTS[type] };
}

function outputOf({ identifier, type, jsonSchemaJson }: PromptOutput) {
  return unsetNulls({ identifier, type: OUTPUTS[type], jsonSchemaJson });
}

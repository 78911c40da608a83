/** PromptService: message <-> domain values. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PromptScope, type PromptService, PromptSyncAction } from '../../../gen/spandrel/v1/prompts_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import type { Project } from '../../domain/caller.ts';
import type { PromptCall, PromptTag, VersionedPrompt } from '../../domain/prompts/prompt.ts';
import { handleProblems, parseReference } from '../../domain/prompts/prompt-names.ts';
import type { PromptReads } from '../../domain/prompts/prompt-reads.ts';
import type { SyncOutcome } from '../../domain/prompts/prompt-sync.ts';
import type { PromptTags } from '../../domain/prompts/prompt-tags.ts';
import type { TryPrompt } from '../../domain/prompts/prompt-try.ts';
import type { Prompts } from '../../domain/prompts/prompts.ts';
import { typeReason } from '../../domain/reasons.ts';
import { cursorRequest } from '../cursor-page.ts';
import { nameOf, numbersOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import { nulProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { organizationOf, projectOf } from '../scope.ts';
import {
  configMessageProblems,
  draftProblems,
  objectProblems,
  readConfig,
  readDraft,
  variablesProblems,
} from './prompt-draft.ts';
import { toConfigMessage, toMessage, toTriedMessage } from './prompt-message.ts';

type PromptRpcDeps = {
  readonly prompts: Prompts;
  readonly reads: PromptReads;
  readonly tags: PromptTags;
  readonly tryPrompt: TryPrompt;
  /** The URL of a prompt in the console. */
  readonly platformUrl: (project: Project, id: string) => string;
};

const ACTIONS = numbersOf(PromptSyncAction);

export function createPromptRpc({
  prompts,
  reads,
  tags,
  tryPrompt,
  platformUrl,
}: PromptRpcDeps): Implementation<typeof PromptService> {
  const show = (project: Project, found: VersionedPrompt) => toMessage(found, platformUrl(project, found.prompt.id));
  /** Counts the memory of an answer as it is read. */
  const countIn = (context: Pick<Context, 'countResponseBytes'>) => (read: readonly VersionedPrompt[]) =>
    context.countResponseBytes(read.reduce((bytes, each) => bytes + sizeOf(each), 0));
  return {
    async listPrompts(request, context) {
      const project = projectOf(context);
      const { items, nextCursor } = await prompts.list(project, cursorRequest(request), countIn(context));
      if (nextCursor !== null) context.responseHeaders['x-next-cursor'] = nextCursor;
      return { prompts: items.map((each) => show(project, each)), nextPageToken: nextCursor ?? undefined };
    },
    async getPrompt({ id, version = null, tag = null }, context) {
      const project = projectOf(context);
      const reference = parseReference({ id, version, tag });
      const { found, etag } = await reads.get({ project, organization: organizationOf(context) }, reference);
      context.responseHeaders.etag = etag;
      return { prompt: show(project, found) };
    },
    createPrompt: {
      check: (request, input) => [
        ...(request.handle === undefined ? [] : handleProblems(request.handle)),
        ...draftProblems(request.draft),
        ...nulProblems(request, input),
      ],
      async handle({ handle = '', scope, draft }, context) {
        const call = callOf(context);
        const asked = { handle, scope: nameOf(PromptScope, scope) ?? 'PROJECT', draft: readDraft(draft) };
        return { prompt: show(call.project, await prompts.create(call, asked)) };
      },
    },
    updatePrompt: {
      check: (request, input) => [
        ...(request.handle === undefined ? [] : handleProblems(request.handle)),
        ...(request.draft?.commitMessage === undefined ? [typeReason('commitMessage', 'string', 'undefined')] : []),
        ...draftProblems(request.draft),
        ...nulProblems(request, input),
      ],
      async handle({ id, handle = null, scope, expectedVersion = null, draft }, context) {
        const call = callOf(context);
        const named = { idOrHandle: id, handle, scope: nameOf(PromptScope, scope), expectedVersion };
        const change = { ...named, draft: readDraft(draft) };
        return { prompt: show(call.project, await prompts.update(call, change)) };
      },
    },
    async deletePrompt({ id }, context) {
      await prompts.remove(callOf(context), id);
      return {};
    },
    async listPromptVersions({ id }, context) {
      const project = projectOf(context);
      const versions = await prompts.versions(project, id, countIn(context));
      return { versions: versions.map((each) => show(project, each)) };
    },
    async restorePromptVersion({ id, versionId }, context) {
      const call = callOf(context);
      return { prompt: show(call.project, await prompts.restore(call, id, versionId)) };
    },
    syncPrompt: {
      check: (request, input) => [
        ...(request.configData === undefined ? [] : configMessageProblems(request.configData)),
        ...objectProblems('parameters', request.parametersJson),
        ...nulProblems(request, input),
      ],
      async handle({ id, configData, parametersJson = null, localVersion = null, commitMessage = null }, context) {
        const call = callOf(context);
        if (configData === undefined) throw new Error('a rule of the contract let a sync without content through');
        const file = { idOrHandle: id, config: readConfig(configData), parametersJson, localVersion, commitMessage };
        return showOutcome(await prompts.sync(call, file), localVersion, (found) => show(call.project, found));
      },
    },
    tryPrompt: {
      check: (request, input) => [
        ...variablesProblems(request.variablesJson),
        ...draftProblems(request.draft, 'draft.'),
        ...nulProblems(request, input),
      ],
      async handle({ id, version = null, tag = null, virtualKeyId = '', variablesJson, draft }, context) {
        const reference = parseReference({ id, version, tag });
        const variables = JSON.parse(variablesJson ?? '{}');
        const asked = { reference, virtualKeyId, variables, draft: draft === undefined ? null : readDraft(draft) };
        const tried = await tryPrompt(callOf(context), asked);
        context.countResponseBytes(tried.output?.length ?? 0);
        return toTriedMessage(tried);
      },
    },
    async assignPromptTag({ id, tag, versionId = '' }, context) {
      const call = callOf(context);
      const configId = await prompts.assign(call, { idOrHandle: id, name: tag, versionId });
      return { configId, versionId, tag, updatedAt: timestampFromMs(call.nowMs) };
    },
    listPromptTags: async (_request, context) => ({
      tags: (await tags.list({ organization: organizationOf(context), nowMs: context.nowMs })).map(toTagMessage),
    }),
    createPromptTag: async ({ name = '', protected: isProtected = null }, context) => ({
      tag: toTagMessage(await tags.create(callOf(context), { name, protected: isProtected })),
    }),
    updatePromptTag: async ({ tag, name = '', protected: isProtected = null }, context) => ({
      tag: toTagMessage(await tags.update(callOf(context), tag, { name, protected: isProtected })),
    }),
    async deletePromptTag({ tag }, context) {
      await tags.remove(callOf(context), tag);
      return {};
    },
  };
}

function callOf(context: Omit<Context, 'receipt' | 'replay'>): PromptCall {
  const { actor, caller, nowMs } = context;
  if (actor === null) throw new Error('the policy let a call without a credential through');
  return {
    project: projectOf(context),
    organization: organizationOf(context),
    actor,
    nowMs,
    requirePermission: (permission) => requirePermission(permission, caller),
  };
}

/** The system prompt is also the first message, and a schema also the response format. */
function sizeOf({ version: { config, parametersJson, commitMessage } }: VersionedPrompt): number {
  const { prompt, messages, inputs, outputs, demonstrationsJson, promptingTechniqueJson, responseFormatJson } = config;
  const schemas = outputs.map(({ jsonSchemaJson }) => jsonSchemaJson);
  const texts = [
    ...[prompt, prompt, parametersJson, commitMessage],
    ...messages.map(({ content }) => content),
    ...[...schemas, ...schemas, demonstrationsJson, promptingTechniqueJson, responseFormatJson],
  ];
  const besideTexts = BYTES_BESIDE_TEXTS + BYTES_OF_FIELD * (inputs.length + outputs.length);
  return texts.reduce((bytes, text) => bytes + (text?.length ?? 0), besideTexts);
}

const BYTES_BESIDE_TEXTS = 1000;
const BYTES_OF_FIELD = 200;

type Show = (found: VersionedPrompt) => ReturnType<typeof toMessage>;

function showOutcome(outcome: SyncOutcome, localVersion: number | null, show: Show) {
  const { action, found } = outcome;
  if (action !== 'conflict') return { action: ACTIONS[action], prompt: show(found) };
  return {
    action: ACTIONS[action],
    conflictInfo: {
      localVersion: localVersion ?? 0,
      remoteVersion: found.version.version,
      differences: [...outcome.differences],
      remoteConfigData: toConfigMessage(found.version.config),
      remoteParametersJson: found.version.parametersJson,
    },
  };
}

function toTagMessage(tag: PromptTag) {
  return fieldsOf(tag);
}

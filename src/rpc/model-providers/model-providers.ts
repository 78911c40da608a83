/** ModelProviderService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type CreateModelProviderRequest,
  ModelProviderKind,
  ModelProviderSchema,
  type ModelProviderService,
  type UpdateModelProviderRequest,
} from '../../../gen/spandrel/v1/model_providers_pb.js';
import type { ModelProviderRecord } from '../../domain/model-providers/model-provider.ts';
import type { ModelProviderDraft } from '../../domain/model-providers/model-provider-draft.ts';
import type { ModelProviders } from '../../domain/model-providers/model-providers.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { numbersOf, wordOf } from '../enums.ts';
import { answerOnce, managementCallOf, targetOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';
import { sentFields } from '../update-mask.ts';

const KINDS = numbersOf(ModelProviderKind);

type Deps = { readonly providers: ModelProviders };

export function createModelProviderRpc({ providers }: Deps): Implementation<typeof ModelProviderService> {
  const answer = (provider: ModelProviderRecord) => ({ modelProvider: toMessage(provider) });
  return {
    listModelProviders: {
      async handle(request, context) {
        return pageMessage(await providers.list(managementCallOf(context), cursorRequest(request)), toMessage);
      },
    },
    createModelProvider: {
      precheck: (_request, context) => providers.admitCreation(managementCallOf(context)),
      check: (request, input) => [...nulProblems(request, input), ...providers.creationProblems(readNew(request))],
      handle: (request, context) =>
        answerOnce(context, { run: (call) => providers.create(call, readNew(request)), show: answer }),
    },
    getModelProvider: {
      handle: async (request, context) => answer(await providers.get(targetOf(request, context))),
    },
    updateModelProvider: {
      precheck: (request, context) => providers.admit(targetOf(request, context)),
      check: (request, input) => [...nulProblems(request, input), ...providers.changeProblems(readChange(request))],
      handle: async (request, context) =>
        answer(await providers.update(targetOf(request, context), readChange(request))),
    },
    deleteModelProvider: {
      async handle(request, context) {
        await providers.remove(targetOf(request, context));
        return {};
      },
    },
    testModelProvider: {
      async handle(request, context) {
        const test = await providers.test(targetOf(request, context));
        return {
          ok: test.kind === 'listed',
          error: test.kind === 'failed' ? test.error : undefined,
          httpStatus: test.httpStatus ?? undefined,
          latencyMs: BigInt(test.latencyMs),
          models: test.kind === 'listed' ? [...test.models] : [],
        };
      },
    },
  };
}

/** An unknown kind reads like a missing one; the field rules report it. */
function readNew(request: CreateModelProviderRequest): ModelProviderDraft {
  const { name, baseUrl, apiKey, apiVersion, extraHeadersJson, aliasesJson, timeoutMs, streamUsage, enabled } = request;
  return {
    ...{ name, baseUrl, apiKey, apiVersion, extraHeadersJson, aliasesJson, timeoutMs, streamUsage, enabled },
    kind: wordOf(ModelProviderKind, request.kind) ?? undefined,
    models: request.models?.names,
    projectIds: request.projectIds?.ids,
  };
}

const PLAIN = ['name', 'baseUrl', 'apiKey', 'apiVersion', 'extraHeadersJson', 'aliasesJson', 'timeoutMs'] as const;
const CHANGEABLE = [...PLAIN, 'streamUsage', 'enabled', 'models', 'projectIds'] as const;

/** The fields that an update sends. */
function readChange({ modelProvider: resource, updateMask: mask }: UpdateModelProviderRequest): ModelProviderDraft {
  const { models, projectIds, ...sent } = sentFields(ModelProviderSchema, { resource, mask }, CHANGEABLE);
  const kind = wordOf(ModelProviderKind, resource?.kind ?? 0) ?? undefined;
  return {
    ...{ ...sent, kind },
    models: models === null ? null : models?.names,
    projectIds: projectIds === null ? null : projectIds?.ids,
  };
}

/** Without the API key. */
function toMessage(provider: ModelProviderRecord): MessageInitShape<typeof ModelProviderSchema> {
  const { id, name, baseUrl, timeoutMs, streamUsage, enabled, models, projectIds } = provider;
  return {
    ...{ id, name, baseUrl, timeoutMs, streamUsage, enabled },
    createdAt: timestampFromMs(provider.createdAtMs),
    updatedAt: timestampFromMs(provider.updatedAtMs),
    kind: KINDS[provider.kind],
    keyHint: provider.keyHint ?? undefined,
    apiVersion: provider.apiVersion ?? undefined,
    extraHeadersJson: JSON.stringify(provider.extraHeaders),
    models: models === null ? undefined : { names: [...models] },
    aliasesJson: JSON.stringify(provider.aliases),
    projectIds: projectIds === null ? undefined : { ids: [...projectIds] },
  };
}

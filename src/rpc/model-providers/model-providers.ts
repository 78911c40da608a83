/** ModelProviderService: message <-> domain values. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
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
import { timesOf } from '../epoch-ms.ts';
import { managementCallOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { isSent } from '../update-mask.ts';

const KINDS = numbersOf(ModelProviderKind);

type Deps = { readonly providers: ModelProviders };

const targetOf = ({ id }: { readonly id: string }, context: Context) => ({ call: managementCallOf(context), id });

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
      async handle(request, context) {
        const receipt = (created: ModelProviderRecord) => context.receipt(answer(created));
        return answer(await providers.create(managementCallOf(context), readNew(request), receipt));
      },
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

const NOTHING = create(ModelProviderSchema);

/** The fields that an update sends. */
function readChange({ modelProvider = NOTHING, updateMask: mask }: UpdateModelProviderRequest): ModelProviderDraft {
  /** Undefined: not sent; null: sent without a value. */
  const sent = <V>(path: string, value: V | undefined): V | null | undefined =>
    isSent(mask, path, value) ? (value ?? null) : undefined;
  return {
    name: sent('name', modelProvider.name),
    kind: wordOf(ModelProviderKind, modelProvider.kind) ?? undefined,
    baseUrl: sent('base_url', modelProvider.baseUrl),
    apiKey: sent('api_key', modelProvider.apiKey),
    apiVersion: sent('api_version', modelProvider.apiVersion),
    extraHeadersJson: sent('extra_headers_json', modelProvider.extraHeadersJson),
    models: sent('models', modelProvider.models?.names),
    aliasesJson: sent('aliases_json', modelProvider.aliasesJson),
    timeoutMs: sent('timeout_ms', modelProvider.timeoutMs),
    projectIds: sent('project_ids', modelProvider.projectIds?.ids),
    streamUsage: sent('stream_usage', modelProvider.streamUsage),
    enabled: sent('enabled', modelProvider.enabled),
  };
}

/** Without the API key. */
function toMessage(provider: ModelProviderRecord): MessageInitShape<typeof ModelProviderSchema> {
  const { id, name, baseUrl, timeoutMs, streamUsage, enabled, models, projectIds } = provider;
  return {
    ...{ id, name, baseUrl, timeoutMs, streamUsage, enabled },
    ...timesOf(provider),
    kind: KINDS[provider.kind],
    keyHint: provider.keyHint ?? undefined,
    apiVersion: provider.apiVersion ?? undefined,
    extraHeadersJson: JSON.stringify(provider.extraHeaders),
    models: models === null ? undefined : { names: [...models] },
    aliasesJson: JSON.stringify(provider.aliases),
    projectIds: projectIds === null ? undefined : { ids: [...projectIds] },
  };
}

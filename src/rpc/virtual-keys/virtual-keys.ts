/** VirtualKeyService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  VirtualKeyCacheMode,
  VirtualKeyCapture,
  type VirtualKeyConfigSchema,
  type VirtualKeySchema,
  type VirtualKeyService,
  VirtualKeyStatus,
} from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import type { Clock } from '../../domain/clock.ts';
import type { IdempotentCall } from '../../domain/management/management-call.ts';
import type { VirtualKeyConfig, VirtualKeyRecord } from '../../domain/virtual-keys/virtual-key.ts';
import type { NewSecretVirtualKey, SecretVirtualKey } from '../../domain/virtual-keys/virtual-key-changes.ts';
import type { VirtualKeys } from '../../domain/virtual-keys/virtual-keys.ts';
import { toBudget } from '../budgets/budget-message.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { numbersOf } from '../enums.ts';
import { checkRange, requireRange, toTimestamp } from '../epoch-ms.ts';
import { answerOnce, managementCallOf, targetOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { amountsOf } from '../spend/spend.ts';
import { readNewVirtualKey, readVirtualKeyChange } from './virtual-key-request.ts';

type Service = Implementation<typeof VirtualKeyService>;
type Deps = {
  readonly virtualKeys: VirtualKeys;
  /** The time that an expiry of a request is compared with. */
  readonly clock: Clock;
};

const STATUSES = numbersOf(VirtualKeyStatus);
const CACHE_MODES = numbersOf(VirtualKeyCacheMode);
const CAPTURES = numbersOf(VirtualKeyCapture);
const OVERLAP_DEFAULT_SECONDS = 86_400;

export function createVirtualKeyRpc(deps: Deps): Service {
  return { ...createRecords(deps), ...createActions(deps) };
}

const answer = (key: VirtualKeyRecord, { nowMs }: Pick<Context, 'nowMs'>) => ({ virtualKey: toMessage(key, nowMs) });
const withSecret = ({ key, secret }: SecretVirtualKey, context: Pick<Context, 'nowMs'>) => ({
  ...answer(key, context),
  secret,
});

type Records =
  | 'listVirtualKeys'
  | 'createVirtualKey'
  | 'getVirtualKey'
  | 'updateVirtualKey'
  | 'rotateVirtualKey'
  | 'getVirtualKeySpend';

function createRecords({ virtualKeys, clock }: Deps): Pick<Service, Records> {
  return {
    listVirtualKeys: {
      async handle(request, context) {
        const question = { ...cursorRequest(request), externalId: request.externalId ?? null };
        const page = await virtualKeys.list(managementCallOf(context), question);
        return pageMessage(page, (key) => toMessage(key, context.nowMs));
      },
    },
    createVirtualKey: {
      precheck: (_request, context) => virtualKeys.admitCreation(managementCallOf(context)),
      check: (request, input) => [
        ...nulProblems(request, input),
        ...virtualKeys.creationProblems(readNewVirtualKey(request), clock()),
      ],
      handle: (request, context) =>
        answerOnce(context, {
          run: (call) => virtualKeys.create(call, readNewVirtualKey(request)),
          show: ({ budget, ...made }: NewSecretVirtualKey) => ({
            ...withSecret(made, context),
            budget: budget === null ? undefined : toBudget(budget),
          }),
        }),
    },
    getVirtualKey: {
      handle: async (request, context) => answer(await virtualKeys.get(targetOf(request, context)), context),
    },
    updateVirtualKey: {
      precheck: (request, context) => virtualKeys.admit(targetOf(request, context), 'virtualKeys:update'),
      check: (request, input) => [
        ...nulProblems(request, input),
        ...virtualKeys.draftProblems(readVirtualKeyChange(request), clock()),
      ],
      async handle(request, context) {
        const { expectedRevision } = request;
        const revision = expectedRevision === undefined ? null : Number(expectedRevision);
        const draft = readVirtualKeyChange(request);
        return answer(await virtualKeys.update(targetOf(request, context), draft, revision), context);
      },
    },
    rotateVirtualKey: {
      precheck: (request, context) => virtualKeys.admit(targetOf(request, context), 'virtualKeys:rotate'),
      handle: ({ id, overlapS = OVERLAP_DEFAULT_SECONDS }, context) =>
        answerOnce(context, {
          run: (call) => virtualKeys.rotate({ call, id, overlapSeconds: overlapS }),
          show: (made: SecretVirtualKey) => withSecret(made, context),
        }),
    },
    getVirtualKeySpend: {
      check: ({ occurredFrom, occurredTo }) => checkRange(occurredFrom, occurredTo),
      async handle(request, context) {
        const range = requireRange(request.occurredFrom, request.occurredTo);
        return { total: amountsOf(await virtualKeys.spend(targetOf(request, context), range)) };
      },
    },
  };
}

type Actions = 'disableVirtualKey' | 'enableVirtualKey' | 'revokeVirtualKey';
type Act = VirtualKeys['disable' | 'enable' | 'revoke'];
type Reasoned = { readonly id: string; readonly reason?: string | undefined };

function createActions({ virtualKeys }: Deps): Pick<Service, Actions> {
  const managed = {
    precheck: (request: { readonly id: string }, context: Context) =>
      virtualKeys.admit(targetOf(request, context), 'virtualKeys:manage'),
    check: nulProblems,
  };
  const once = (act: Act, { id, reason }: Reasoned, context: Pick<Context, 'nowMs'>) => ({
    run: (call: IdempotentCall<VirtualKeyRecord>) => act({ call, id, reason: reason ?? null }),
    show: (key: VirtualKeyRecord) => answer(key, context),
  });
  const { disable, enable, revoke } = virtualKeys;
  return {
    disableVirtualKey: { ...managed, handle: (sent, context) => answerOnce(context, once(disable, sent, context)) },
    enableVirtualKey: { ...managed, handle: (sent, context) => answerOnce(context, once(enable, sent, context)) },
    revokeVirtualKey: { ...managed, handle: (sent, context) => answerOnce(context, once(revoke, sent, context)) },
  };
}

/** Without secrets and their hashes. */
function toMessage(key: VirtualKeyRecord, nowMs: number): MessageInitShape<typeof VirtualKeySchema> {
  const { id, organizationId, name, displayPrefix, traceProjectId, metadataJson, previousSecretUntilMs } = key;
  const overlaps = previousSecretUntilMs !== null && nowMs < previousSecretUntilMs;
  return {
    ...{ id, organizationId, name, displayPrefix, traceProjectId, metadataJson },
    createdAt: timestampFromMs(key.createdAtMs),
    updatedAt: timestampFromMs(key.updatedAtMs),
    description: key.description ?? undefined,
    status: STATUSES[key.status],
    principalUserId: key.principalUserId ?? undefined,
    externalId: key.externalId ?? undefined,
    labels: [...key.labels],
    config: toConfig(key.config),
    revision: BigInt(key.revision),
    lastUsedAt: toTimestamp(key.lastUsedAtMs),
    expiresAt: toTimestamp(key.expiresAtMs),
    revokedAt: toTimestamp(key.revokedAtMs),
    previousSecretUntil: overlaps ? toTimestamp(previousSecretUntilMs) : undefined,
  };
}

function toConfig(config: VirtualKeyConfig): MessageInitShape<typeof VirtualKeyConfigSchema> {
  const { modelsAllowed, providers, fallback, rateLimits, cache, guardrails } = config;
  return {
    modelsAllowed: modelsAllowed === null ? undefined : { names: [...modelsAllowed] },
    providers: providers === null ? undefined : { ids: [...providers] },
    fallback,
    rateLimits: { rpm: toInteger(rateLimits.rpm), tpm: toInteger(rateLimits.tpm), rpd: toInteger(rateLimits.rpd) },
    cache: { mode: CACHE_MODES[cache.mode], ttlS: cache.ttlSeconds },
    guardrails: { pre: [...guardrails.pre], post: [...guardrails.post] },
    capture: CAPTURES[config.capture],
    allowUnpriced: config.allowUnpriced,
  };
}

function toInteger(value: number | null): bigint | undefined {
  return value === null ? undefined : BigInt(value);
}

/** ApiKeyService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type ApiKeySchema,
  type ApiKeyService,
  KeyType,
  PermissionMode,
  Role,
  ScopeType,
} from '../../../gen/spandrel/v1/keys_pb.js';
import type { ApiKeys, KeyView, MintedKey, RenewedKey } from '../../domain/keys/keys.ts';
import { numbersOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import { answerOnce, managementCallOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';
import { readKeyChange, readNewKey, readQuestion } from './key-request.ts';

const TYPES = numbersOf(KeyType);
const MODES = numbersOf(PermissionMode);

export function createKeyRpc({ keys }: { readonly keys: ApiKeys }): Implementation<typeof ApiKeyService> {
  return {
    listApiKeys: {
      precheck: async (_, context) => keys.admitList(managementCallOf(context)),
      async handle(request, context) {
        const page = await keys.list(managementCallOf(context), readQuestion(request));
        // An empty text, which REST writes as null, marks the last page.
        return { data: page.keys.map(toMessage), nextPageToken: page.nextCursor === null ? '' : page.nextCursor };
      },
    },
    createApiKey: {
      check: (request, input) => [...nulProblems(request, input), ...keys.creationProblems(readNewKey(request))],
      handle: (request, context) =>
        answerOnce(context, {
          run: (call) => keys.create(call, readNewKey(request)),
          show: withToken,
          idOf: ({ apiKey }) => apiKey?.id ?? null,
        }),
    },
    getApiKey: {
      check: nulProblems,
      async handle(request, context) {
        return { apiKey: toMessage(await keys.get(managementCallOf(context), request.id)) };
      },
    },
    updateApiKey: {
      check: (request, input) => [...nulProblems(request, input), ...keys.changeProblems(readKeyChange(request))],
      async handle(request, context) {
        const draft = readKeyChange(request);
        return { apiKey: toMessage(await keys.update(managementCallOf(context), request.id, draft)) };
      },
    },
    revokeApiKey: {
      check: nulProblems,
      async handle(request, context) {
        await keys.revoke(managementCallOf(context), request.id);
        return {};
      },
    },
    rotateApiKey: {
      check: nulProblems,
      handle: ({ id, overlapSeconds = 0 }, context) =>
        answerOnce(context, { run: (call) => keys.rotate(call, { id, overlapSeconds }), show: withToken }),
    },
  };
}

function withToken({ token, key }: MintedKey | RenewedKey) {
  return { token, apiKey: toMessage(key) };
}

function toMessage(key: KeyView): MessageInitShape<typeof ApiKeySchema> {
  return {
    ...fieldsOf(key),
    keyType: TYPES[key.keyType],
    assignedToUserId: key.userId ?? undefined,
    permissionMode: MODES[key.permissionMode],
    bindings: key.bindings.map(({ id, role, scopeType, scopeId }) => ({
      id,
      role: Role[role],
      scopeType: ScopeType[scopeType],
      scopeId,
    })),
    warnings: key.warnings.length === 0 ? undefined : { sentences: [...key.warnings] },
  };
}

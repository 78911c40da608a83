/** The pipeline over an in-memory store, with rpc handlers that a test supplies. */

import { randomBytes } from 'node:crypto';
import { create, type DescService } from '@bufbuild/protobuf';
import type { Caller } from '../../src/domain/caller.ts';
import { Fault } from '../../src/domain/fault.ts';
import type { Actor } from '../../src/domain/management/audit.ts';
import { createIdempotency } from '../../src/domain/management/idempotency.ts';
import type { RefusedAction } from '../../src/domain/management/refusal-log.ts';
import { createInvoke } from '../../src/rpc/invoke.ts';
import type { Implementation, UnaryMethod, UnaryResponse } from '../../src/rpc/method.ts';
import { createQuotas } from '../../src/rpc/quotas.ts';
import { compileService } from '../../src/rpc/registry.ts';
import { createFakeManagementStore } from './management-store.ts';

export const ORGANIZATION_ID = 'organization_1';

/** Callers by token: three service keys and a project. */
export const CALLERS: { readonly [token: string]: Caller } = {
  admin: serviceKey('adminKey', 'ADMIN'),
  other: serviceKey('otherKey', 'ADMIN'),
  viewer: serviceKey('viewerKey', 'VIEWER'),
  project: {
    kind: 'project_key',
    keyHash: Buffer.alloc(32),
    principal: { kind: 'project', projectId: 'project_1' },
    organization: { id: ORGANIZATION_ID, number: 1, priceVersion: 0, promptVersion: 0 },
    project: { id: 'project_1', organizationId: ORGANIZATION_ID } as never,
  },
};

function serviceKey(id: string, role: 'ADMIN' | 'VIEWER'): Caller {
  const bindings = [{ role, scopeType: 'ORGANIZATION' as const, scopeId: ORGANIZATION_ID, permissions: [] }];
  const organization = { id: ORGANIZATION_ID, number: 1, priceVersion: 0, promptVersion: 0 };
  return {
    kind: 'api_key',
    keyHash: Buffer.alloc(32),
    principal: { kind: 'service', keyGrants: bindings },
    organization,
    key: { id, keyType: 'service', organization, userId: null, bindings } as never,
    project: null,
  };
}

export type Sent = {
  readonly as: string;
  readonly key?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly isDisconnected?: () => boolean;
};

export type Pipeline<S extends DescService> = {
  readonly method: (name: keyof S['method'] & string) => UnaryMethod;
  readonly call: (name: keyof S['method'] & string, request: object, sent: Sent) => Promise<UnaryResponse>;
  readonly store: ReturnType<typeof createFakeManagementStore>;
  readonly refused: { readonly actor: Actor; readonly audited: RefusedAction }[];
  /** Ids of used keys, or the kind. */
  readonly used: string[];
};

/** Rpcs without a handler return an empty message. */
export function createPipeline<S extends DescService>(service: S, code: Partial<Implementation<S>>): Pipeline<S> {
  const store = createFakeManagementStore();
  const refused: { actor: Actor; audited: RefusedAction }[] = [];
  const used: string[] = [];
  const idle = Object.fromEntries(service.methods.map(({ localName }) => [localName, { handle: async () => ({}) }]));
  const methods = compileService(service, { ...idle, ...code } as Implementation<S>, { ingestBytesMax: 1_000 });
  const silent = () => {};
  const quotas = createQuotas({ arriving: 40, inFlight: 40, bodyBytes: 10_000, responseBytes: 10_000 });
  const invoke = createInvoke({
    authenticate: async (_class, header) => {
      const caller = CALLERS[header('authorization') ?? ''];
      if (!caller) throw new Fault('invalid_credentials', 'The credential is not valid.');
      return caller;
    },
    keyUse: { record: (caller) => used.push(caller.kind === 'api_key' ? `${caller.key.id}` : caller.kind) },
    refusals: { record: (actor, audited) => refused.push({ actor, audited }) },
    idempotency: createIdempotency({
      store,
      encryptionKeys: [Buffer.alloc(32, 1)],
      random: randomBytes,
      retentionNowMs: () => 1_800_000_000_000,
      onReleaseError: (error) => {
        throw error;
      },
    }),
    clock: () => 1_800_000_000_000,
    ownOrigins: () => [],
    yieldToEventLoop: async () => {},
    accepting: () => true,
    log: { error: silent, warn: silent },
  });
  const method = (name: string) => {
    const found = methods.find(({ desc }) => desc.localName === name);
    if (found?.kind !== 'unary') throw new Error(`there is no ${name}`);
    return found;
  };
  return {
    method,
    store,
    refused,
    used,
    call: (name, request, { as, key, headers = {}, isDisconnected = () => false }) => {
      const all: { [name: string]: string | undefined } = { authorization: as, 'idempotency-key': key, ...headers };
      const call = {
        transport: 'grpc' as const,
        header: (header: string) => all[header],
        ids: { requestId: 'req_1', traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
        remoteAddress: '192.0.2.7',
        isSecure: false,
        isDisconnected,
        quota: quotas.open({ address: '192.0.2.7', hasBody: true }),
      };
      const { desc } = method(name);
      return invoke(method(name), call, () => ({ kind: 'message', message: create(desc.input, request as never) }));
    },
  };
}

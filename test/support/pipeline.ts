/** The pipeline over a store in memory, with code behind the rpcs that a test decides about. */

import { randomBytes } from 'node:crypto';
import { create, type DescService } from '@bufbuild/protobuf';
import type { Actor } from '../../src/domain/audit.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { Fault } from '../../src/domain/fault.ts';
import { createIdempotency } from '../../src/domain/idempotency.ts';
import type { RefusedDeed } from '../../src/domain/refusals.ts';
import { createInvoke } from '../../src/rpc/invoke.ts';
import type { Answered, Implementation, UnaryMethod } from '../../src/rpc/method.ts';
import { createQuotas } from '../../src/rpc/quotas.ts';
import { compileService } from '../../src/rpc/registry.ts';
import { createFakeManagementStore } from './management-store.ts';

export const ORGANIZATION_ID = 'organization_1';

/** A service key with everything, and one with nothing. */
export const CALLERS: { readonly [token: string]: Caller } = {
  admin: serviceKey('adminKey', 'ADMIN'),
  other: serviceKey('otherKey', 'ADMIN'),
  viewer: serviceKey('viewerKey', 'VIEWER'),
  project: {
    kind: 'project_key',
    principal: { kind: 'project', projectId: 'project_1' },
    organization: { id: ORGANIZATION_ID, number: 1, priceVersion: 0 },
    project: { id: 'project_1', organizationId: ORGANIZATION_ID } as never,
  },
};

function serviceKey(id: string, role: 'ADMIN' | 'VIEWER'): Caller {
  const bindings = [{ role, scopeType: 'ORGANIZATION' as const, scopeId: ORGANIZATION_ID, permissions: [] }];
  const organization = { id: ORGANIZATION_ID, number: 1, priceVersion: 0 };
  return {
    kind: 'api_key',
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
  readonly hasLeft?: () => boolean;
};

export type Pipeline<S extends DescService> = {
  readonly method: (name: keyof S['method'] & string) => UnaryMethod;
  readonly call: (name: keyof S['method'] & string, request: object, sent: Sent) => Promise<Answered>;
  readonly store: ReturnType<typeof createFakeManagementStore>;
  readonly refused: { readonly actor: Actor; readonly deed: RefusedDeed }[];
  /** Ids of the keys that were used. */
  readonly used: string[];
};

/** Rpcs without code of the test answer nothing. */
export function createPipeline<S extends DescService>(service: S, code: Partial<Implementation<S>>): Pipeline<S> {
  const store = createFakeManagementStore();
  const refused: { actor: Actor; deed: RefusedDeed }[] = [];
  const used: string[] = [];
  const idle = Object.fromEntries(service.methods.map(({ localName }) => [localName, { handle: async () => ({}) }]));
  const methods = compileService(service, { ...idle, ...code } as Implementation<S>, { ingestBytesMax: 1_000 });
  const silent = () => {};
  const quotas = createQuotas({ arriving: 40, inFlight: 40, bodyBytes: 10_000, answerBytes: 10_000 });
  const invoke = createInvoke({
    authenticate: async (_class, header) => {
      const caller = CALLERS[header('authorization') ?? ''];
      if (!caller) throw new Fault('invalid_credentials', 'The credential is not valid.');
      return caller;
    },
    keyUse: { note: (caller) => used.push(caller.kind === 'api_key' ? caller.key.id : caller.kind) },
    refusals: { note: (actor, deed) => refused.push({ actor, deed }) },
    idempotency: createIdempotency({
      store,
      encryptionKey: Buffer.alloc(32, 1),
      random: randomBytes,
      onReleaseError: (error) => {
        throw error;
      },
    }),
    clock: () => 1_800_000_000_000,
    ownOrigins: () => [],
    nextTurn: async () => {},
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
    call: (name, request, { as, key, headers = {}, hasLeft = () => false }) => {
      const all: { [name: string]: string | undefined } = { authorization: as, 'idempotency-key': key, ...headers };
      const call = {
        transport: 'grpc' as const,
        header: (header: string) => all[header],
        ids: { requestId: 'req_1', traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
        remoteAddress: '192.0.2.7',
        hasLeft,
        quota: quotas.open({ address: '192.0.2.7', hasBody: true }),
      };
      const { desc } = method(name);
      return invoke(method(name), call, () => ({ kind: 'message', message: create(desc.input, request as never) }));
    },
  };
}

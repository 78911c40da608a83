/** PermissionService: the catalogue of permissions, with the rpcs that need each one. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import type { PermissionOperationSchema, PermissionService } from '../../../gen/spandrel/v1/permissions_pb.js';
import { listPermissions } from '../../domain/keys/permission-list.ts';
import type { Implementation, Method } from '../method.ts';
import { httpRule, routeOf } from '../rest-shape.ts';

type Operation = MessageInitShape<typeof PermissionOperationSchema>;

/** `methods` are the rpcs whose policies name permissions. */
export function createPermissionRpc(methods: readonly Method[]): Implementation<typeof PermissionService> {
  const operations = operationsByPermission(methods);
  const data = listPermissions().map(({ name, description, scopes, implies, roles }) => ({
    name,
    description,
    operations: [...(operations.get(name) ?? [])],
    scopes: scopes.map((scope) => ScopeType[scope]),
    implies: [...implies],
    roles: roles.map(({ role, scopes }) => ({
      role: Role[role],
      scopes: scopes.map((scope) => ScopeType[scope]),
    })),
  }));
  return { listPermissions: { handle: async () => ({ data }) } };
}

function operationsByPermission(methods: readonly Method[]): ReadonlyMap<string, readonly Operation[]> {
  const found = new Map<string, Operation[]>();
  for (const method of methods) {
    const { desc, policy } = method;
    const [otlpPath] = method.kind === 'unary' ? (method.otlpPaths ?? []) : [];
    const { verb, template } = otlpPath === undefined ? routeOf(httpRule(desc)) : { verb: 'POST', template: otlpPath };
    const operation = { route: `${verb} ${template}`, rpc: `${desc.parent.typeName}/${desc.name}` };
    for (const name of [policy.permission, ...policy.asks]) {
      if (name !== '') found.set(name, [...(found.get(name) ?? []), operation]);
    }
  }
  return found;
}

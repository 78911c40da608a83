/** RoleBindingService: message <-> domain values. */

import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import type {
  CreateRoleBindingRequest,
  RoleBindingSchema,
  RoleBindingService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import type { Reason } from '../../domain/fault.ts';
import type { RoleBindingRecord } from '../../domain/management/management.ts';
import { type RoleBindings, roleBindingProblems } from '../../domain/organization/role-bindings.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { nameOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import { answerOnce, managementCallOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';

export function createRoleBindingRpc(deps: {
  readonly roleBindings: RoleBindings;
}): Implementation<typeof RoleBindingService> {
  const { roleBindings } = deps;
  return {
    listRoleBindings: {
      check: nulProblems,
      async handle(request, context) {
        const { userId = null, scopeId = null } = request;
        const filter = { userId, scopeId, scopeType: nameOf(ScopeType, request.scopeType) };
        const page = await roleBindings.list(managementCallOf(context), filter, cursorRequest(request));
        return pageMessage(page, toMessage);
      },
    },
    createRoleBinding: {
      check: draftProblems,
      handle: (request, context) =>
        answerOnce(context, {
          run: (call) => roleBindings.create(call, draftOf(request)),
          show: (binding: RoleBindingRecord) => ({ roleBinding: toMessage(binding) }),
        }),
    },
    deleteRoleBinding: {
      check: nulProblems,
      async handle(request, context) {
        await roleBindings.remove(managementCallOf(context), request.id);
        return {};
      },
    },
  };
}

function draftProblems(request: CreateRoleBindingRequest, input: DescMessage): readonly Reason[] {
  const role = nameOf(Role, request.role);
  const scopeType = nameOf(ScopeType, request.scopeType);
  const { permissions } = request;
  return [
    ...nulProblems(request, input),
    ...(role === null ? [] : roleBindingProblems({ role, scopeType, permissions })),
  ];
}

/** The enum values of the request were validated before. */
function draftOf(request: CreateRoleBindingRequest) {
  const { userId = '', scopeId = '', permissions } = request;
  const role = nameOf(Role, request.role);
  const scopeType = nameOf(ScopeType, request.scopeType);
  if (role === null || scopeType === null) throw new Error('a role binding without its words passed the checks');
  return { userId, role, scopeType, scopeId, permissions };
}

function toMessage(binding: RoleBindingRecord): MessageInitShape<typeof RoleBindingSchema> {
  return { ...fieldsOf(binding), role: Role[binding.role], scopeType: ScopeType[binding.scopeType] };
}

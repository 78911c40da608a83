/** Wires the services of organizations, their people and their keys. */

import { ApiKeyService } from '../../gen/spandrel/v1/keys_pb.js';
import {
  AuditLogService,
  MemberService,
  OrganizationService,
  ProjectService,
  RoleBindingService,
  TeamService,
} from '../../gen/spandrel/v1/organization_pb.js';
import { createApiKeys } from '../domain/keys/keys.ts';
import { createAuditLog } from '../domain/organization/audit-log.ts';
import { createMembers } from '../domain/organization/members.ts';
import { createOrganizations } from '../domain/organization/organization.ts';
import { createProjects } from '../domain/organization/projects.ts';
import { createRoleBindings } from '../domain/organization/role-bindings.ts';
import { createTeams } from '../domain/organization/teams.ts';
import { createKeyRpc } from '../rpc/keys/keys.ts';
import type { Method } from '../rpc/method.ts';
import { createOrganizationRpc, createTeamRpc } from '../rpc/organization/organization.ts';
import { createAuditLogRpc } from '../rpc/organization/organization-audit-log.ts';
import { createMemberRpc } from '../rpc/organization/organization-members.ts';
import { createProjectRpc } from '../rpc/organization/organization-projects.ts';
import { createRoleBindingRpc } from '../rpc/organization/organization-role-bindings.ts';
import type { Deps } from './deps.ts';
import type { ServiceParts } from './service-parts.ts';

export function compileManagement(
  { store: { management: store }, random, clock, config, rootKeys: { pepper } }: Deps,
  { cursors, compile }: ServiceParts,
): Method[] {
  const [keyPrefix = 'sk-lw-'] = config.keyPrefixes;
  const limits = config.limits.organization;
  const keys = createApiKeys({ store, random, clock, cursors, pepper, keyPrefix });
  const projects = createProjects({ store, random, pepper, keyPrefixes: config.keyPrefixes, limits });
  const organizations = createOrganizations({ store, random });
  const members = createMembers({ store, random, cursors, limits });
  const roleBindings = createRoleBindings({ store, random, cursors, limits });
  const auditLog = createAuditLog({ store, cursors, retentionDays: config.auditRetentionDays });
  return [
    ...compile(ApiKeyService, createKeyRpc({ keys })),
    ...compile(OrganizationService, createOrganizationRpc({ organizations })),
    ...compile(TeamService, createTeamRpc({ teams: createTeams({ store, random, limits }) })),
    ...compile(ProjectService, createProjectRpc({ projects })),
    ...compile(MemberService, createMemberRpc({ members })),
    ...compile(RoleBindingService, createRoleBindingRpc({ roleBindings })),
    ...compile(AuditLogService, createAuditLogRpc({ auditLog })),
  ];
}

import { afterAll, beforeAll, describe, it } from 'vitest';
import { Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import {
  MemberRole,
  MemberService,
  ProjectService,
  RoleBindingService,
  TeamService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { act, askAll } from './organization-client.ts';

const LIMITS = {
  SPANDREL_MAX_TEAMS: '2',
  SPANDREL_MAX_PROJECTS: '2',
  SPANDREL_MAX_MEMBERS: '2',
  SPANDREL_MAX_ROLE_BINDINGS: '3',
};

let app: TestApp;
let userId: string;
beforeAll(async () => {
  app = await startApp({ environment: LIMITS });
  await act(app, 'POST', '/api/teams', { name: 'second' });
  await act(app, 'POST', '/api/projects', { name: 'second' });
  userId = (await act(app, 'POST', '/api/organization/members', { email: 'a@example.com', name: 'A', role: 'VIEWER' }))
    .userId;
  await act(app, 'POST', '/api/role-bindings', {
    userId,
    role: 'MEMBER',
    scopeType: 'PROJECT',
    scopeId: app.projectId,
  });
});
afterAll(async () => {
  await app.close();
});

describe('an organization that is full', () => {
  it('gets no further team, project, member or role binding', async () => {
    const named = { name: 'third' };
    const member = { email: 'b@example.com', name: 'B' };
    const rest = (path: string, body: object) => ({ verb: 'POST', path, body });
    const refused = { status: 422 };
    await askAll(
      app,
      { rest: rest('/api/teams', named), method: TeamService.method.createTeam, request: named },
      { ...refused, code: 'team_limit_reached' },
    );
    await askAll(
      app,
      { rest: rest('/api/projects', named), method: ProjectService.method.createProject, request: named },
      { ...refused, code: 'project_limit_reached' },
    );
    await askAll(
      app,
      {
        rest: rest('/api/organization/members', { ...member, role: 'VIEWER' }),
        method: MemberService.method.createMember,
        request: { ...member, role: MemberRole.VIEWER },
      },
      { ...refused, code: 'member_limit_reached' },
    );
    const grant = { userId, scopeId: app.projectId };
    await askAll(
      app,
      {
        rest: rest('/api/role-bindings', { ...grant, role: 'VIEWER', scopeType: 'PROJECT' }),
        method: RoleBindingService.method.createRoleBinding,
        request: { ...grant, role: Role.VIEWER, scopeType: ScopeType.PROJECT },
      },
      { ...refused, code: 'role_binding_limit_reached' },
    );
  });

  it('gets another project once one is archived', async () => {
    await act(app, 'DELETE', `/api/projects/${app.projectId}`);
    await act(app, 'POST', '/api/projects', { name: 'third' });
  });
});

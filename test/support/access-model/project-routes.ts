/** Rules for requests in one project, with its own key or with an API key. */

import type { Proven } from './credential.ts';
import { mayDo, projectScope } from './power.ts';
import type { Project } from './state.ts';
import { type Allowed, type Ask, allow, refuse } from './verdict.ts';

export type ProjectCall = { readonly proven: Proven; readonly project: Project; readonly ask: Ask };

/** A project key may do everything in its own project. */
export function requireInProject({ proven, project }: ProjectCall, permission: string): void {
  if (proven.kind === 'project') return;
  const { organization, key } = proven;
  if (mayDo(organization, key, [permission, projectScope(organization, project)])) return;
  refuse(403, 'api_key_permission_denied', {
    permission,
    apiKeyId: key.id,
    userId: key.userId,
    projectId: project.id,
  });
}

export function judgeCollection({ proven, project, ask }: ProjectCall): Allowed {
  const traceId = String(ask.body?.trace_id);
  return allow(200, { commit: () => void proven.organization.contents.set(traceId, project.id) });
}

export function judgeTraceRead(call: ProjectCall): Allowed {
  return judgeContent(call, ['trace_not_found', { trace_id: call.ask.id }]);
}

export function judgeEvaluatorRead(call: ProjectCall): Allowed {
  return judgeContent(call, ['evaluator_not_found', { id: call.ask.id, projectId: call.project.id }]);
}

export function judgeEvaluatorCreation({ proven, project }: ProjectCall): Allowed {
  return allow(200, {
    shows: { projectId: project.id },
    commit: ({ id }) => void proven.organization.contents.set(String(id), project.id),
  });
}

/** 404 for contents of another project. */
function judgeContent(
  { proven, project, ask }: ProjectCall,
  [code, shows]: readonly [string, Readonly<Record<string, unknown>>],
): Allowed {
  if (proven.organization.contents.get(ask.id ?? '') !== project.id) refuse(404, code);
  return allow(200, { shows });
}

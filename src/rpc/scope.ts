/** The project and organization of a call, which the policy guarantees. */

import type { Organization, Project } from '../domain/caller.ts';
import type { Context } from './method.ts';

/** The project of a call on a project route. */
export function projectOf({ project }: Pick<Context, 'project'>): Project {
  if (!project) throw new Error('the policy let a call without a project through');
  return project;
}

/** The organization of a call with a credential. */
export function organizationOf({ organization }: Pick<Context, 'organization'>): Organization {
  if (!organization) throw new Error('the policy let a call without an organization through');
  return organization;
}

/** A call on a project route whose caller the audit log names. */
export function actorCallOf(context: Pick<Context, 'project' | 'caller' | 'actor' | 'nowMs'>) {
  const { caller, actor, nowMs } = context;
  if (caller.kind === 'open' || actor === null) throw new Error('the policy let a call without a credential through');
  return { project: projectOf(context), caller, actor, nowMs };
}

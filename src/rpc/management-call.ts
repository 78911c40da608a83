/** A call of a management operation, as its rules know it. */

import type { ManagementCall } from '../domain/management-call.ts';
import type { Context } from './method.ts';

/** The policy admits only API keys to management operations. */
export function managementCallOf({ caller, actor, nowMs }: Context): ManagementCall {
  if (caller.kind !== 'api_key' || actor === null) throw new Error('the policy let a call without an API key through');
  return { caller, actor, nowMs };
}

/** A call of a management operation, in the form that the rules take. */

import type { DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import type { ManagementCall } from '../domain/management/management-call.ts';
import type { Context } from './method.ts';

/**
 * The policy admits only API keys to management operations. `idOf` returns the id of the record in a stored response,
 * where the rules of the operation need it for a replay.
 */
export function managementCallOf<M extends DescMethodUnary>(
  { caller, actor, nowMs, replay }: Context<M>,
  idOf: (answer: MessageShape<M['output']>) => string | null = () => null,
): ManagementCall {
  if (caller.kind !== 'api_key' || actor === null) throw new Error('the policy let a call without an API key through');
  const call = { caller, actor, nowMs };
  if (replay === undefined) return call;
  return { ...call, replay: { answeredId: idOf(replay.answer), pass: replay.pass } };
}

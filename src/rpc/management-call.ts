/** A call of a management operation, in the form that the rules take. */

import type { DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { IdempotentCall, ManagementCall, Target } from '../domain/management/management-call.ts';
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

/** A call about the record that its request names. */
export function targetOf({ id }: { readonly id: string }, context: Context): Target {
  return { call: managementCallOf(context), id };
}

type IdempotentAnswer<M extends DescMethodUnary, R> = {
  readonly run: (call: IdempotentCall<R>) => Promise<R>;
  /** Names the type of the result. */
  readonly show: (result: R) => MessageInitShape<M['output']>;
  /** See `managementCallOf`. */
  readonly idOf?: (answer: MessageShape<M['output']>) => string | null;
};

/** Returns the response of an operation that takes idempotency keys: a repeated call gets the same one. */
export async function answerOnce<M extends DescMethodUnary, R>(
  context: Context<M>,
  { run, show, idOf }: IdempotentAnswer<M, R>,
): Promise<MessageInitShape<M['output']>> {
  const receipt = (result: R) => context.receipt(show(result));
  return show(await run({ ...managementCallOf(context, idOf), receipt }));
}

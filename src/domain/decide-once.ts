/** Decisions whose answer is kept under an idempotency key and given again to whoever sends the same request. */

import { type Decision, decide } from './decide.ts';
import type { ManagementStore } from './management.ts';
import type { ManagementCall, ReceiptOf } from './management-call.ts';

export type Once<J, R> = {
  /**
   * The rules about the caller: credential, permission, ceiling, administrator and ownership. They are asked before a
   * kept answer is given again, too, because it may hold a token that the caller could not get any more. A rule that
   * refuses only what the first request changed has no place here, or asks `call.replay` first.
   */
  readonly judge: () => Promise<J>;
  /** All other rules, and the effect. */
  readonly take: (judged: J) => Decision<R> | Promise<Decision<R>>;
  readonly receipt: ReceiptOf<R>;
  readonly onKeyTaken?: () => never;
};

/** `decide`, for operations that honour idempotency keys: a request that is repeated ends once its caller is judged. */
export function decideOnce<J, R>(
  store: ManagementStore,
  call: ManagementCall,
  { judge, take, receipt: receiptOf, onKeyTaken }: Once<J, R>,
): Promise<R> {
  return decide(store, call.caller.organization.id, {
    ...(onKeyTaken === undefined ? {} : { onKeyTaken }),
    async take() {
      const judged = await judge();
      call.replay?.pass();
      const decision = await take(judged);
      if (decision.change === null) return decision;
      const receipt = receiptOf(decision.result);
      return receipt === undefined ? decision : { ...decision, change: { ...decision.change, receipt } };
    },
  });
}

/** Optimistic commits whose answer is stored under an idempotency key and sent again when the request is repeated. */

import type { ManagementStore } from './management.ts';
import type { ManagementCall, ReceiptOf } from './management-call.ts';
import { commitOptimistically, type Proposal } from './optimistic-commit.ts';

type IdempotentCommit<C, R> = {
  /**
   * The rules about the caller: credential, permission, ceiling, administrator and ownership. They run before a stored
   * answer is sent again, too, because it may hold a token that the caller could no longer get. A rule that
   * refuses only what the first request changed does not belong here, or checks `call.replay` first.
   */
  readonly checkCaller: () => Promise<C>;
  /** All other rules, and the change. `checked` is the answer of `checkCaller`. */
  readonly attempt: (checked: C) => Proposal<R> | Promise<Proposal<R>>;
  readonly receipt: ReceiptOf<R>;
  readonly onProjectKeyTaken?: () => never;
};

/** As `commitOptimistically`, for operations with idempotency keys: a repeated request ends once its caller is checked. */
export function commitIdempotently<C, R>(
  store: ManagementStore,
  call: ManagementCall,
  { checkCaller, attempt, receipt: receiptOf, onProjectKeyTaken }: IdempotentCommit<C, R>,
): Promise<R> {
  return commitOptimistically(store, call.caller.organization.id, {
    ...(onProjectKeyTaken === undefined ? {} : { onProjectKeyTaken }),
    async attempt() {
      const checked = await checkCaller();
      call.replay?.pass();
      const proposal = await attempt(checked);
      if (proposal.change === null) return proposal;
      const receipt = receiptOf(proposal.result);
      return receipt === undefined ? proposal : { ...proposal, change: { ...proposal.change, receipt } };
    },
  });
}

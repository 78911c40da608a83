/** Commits that hold although other requests and processes change the same organization at the same time. */

import { createKeyedMutex, type KeyedMutex } from '../../scheduling/keyed-mutex.ts';
import type { RandomBytes } from '../clock.ts';
import { unavailableFault } from '../fault.ts';
import { type AuditedAction, auditRecord } from './audit.ts';
import type { ManagementChange, ManagementStore } from './management.ts';
import type { IdempotentCall, ManagementCall } from './management-call.ts';

/** What one attempt wants to commit, and the result of the commit. */
type Proposal<R> = {
  readonly result: R;
  /** Null: nothing is to be stored. */
  readonly change: Omit<ManagementChange, 'organizationId' | 'expectedVersion'> | null;
};

// Each failed attempt lost a race against another commit, so many in a row mean heavy contention.
const ATTEMPTS_MAX = 50;
const RETRY_AFTER_SECONDS = 1;

/** One mutex for each store, keyed by organization. */
const mutexes = new WeakMap<ManagementStore, KeyedMutex>();

/**
 * Runs `attempt` on current data and commits its change if nothing of the organization changed meanwhile; else runs it
 * again. It must read everything it depends on in each attempt. `onProjectKeyTaken` throws the Fault for a project key that is in use.
 */
export async function commitOptimistically<R>(
  store: ManagementStore,
  organizationId: string,
  {
    attempt,
    onProjectKeyTaken,
  }: { attempt: () => Promise<Proposal<R>>; onProjectKeyTaken?: (() => never) | undefined },
): Promise<R> {
  const mutex = mutexes.get(store) ?? createKeyedMutex();
  mutexes.set(store, mutex);
  // A caller that lost a race queues up: without the queue, a caller that reads more than the others would lose every race.
  let release = mutex.isHeld(organizationId) ? await mutex.acquire(organizationId) : null;
  try {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
      const expectedVersion = await store.version(organizationId);
      const { result, change } = await attempt();
      if (change === null) return result;
      const outcome = await store.commit({ ...change, organizationId, expectedVersion });
      if (outcome === 'stored') return result;
      if (outcome === 'key_taken') {
        if (onProjectKeyTaken === undefined) throw new Error('a project key is taken where none was changed');
        onProjectKeyTaken();
      }
      release ??= await mutex.acquire(organizationId);
    }
    throw unavailableFault('Others keep changing this organization; try again.', RETRY_AFTER_SECONDS);
  } finally {
    release?.();
  }
}

export type CommitDeps = { readonly store: ManagementStore; readonly random: RandomBytes };

/** A proposal without its entries of the audit log, and the actions that they record. */
export type AuditedProposal<R> =
  | { readonly result: R; readonly change: null }
  | {
      readonly result: R;
      readonly change: Omit<NonNullable<Proposal<R>['change']>, 'audit'>;
      readonly audited: AuditedAction | readonly AuditedAction[];
    };

/** As `commitOptimistically`, with entries of the audit log about the caller. */
export function commitAudited<R>(
  deps: CommitDeps,
  call: Pick<ManagementCall, 'actor' | 'nowMs'>,
  attempt: () => AuditedProposal<R> | Promise<AuditedProposal<R>>,
): Promise<R> {
  return commitOptimistically(deps.store, call.actor.organizationId, {
    attempt: async () => withAudit(deps, call, await attempt()),
  });
}

function withAudit<R>(
  { random }: CommitDeps,
  { actor, nowMs }: Pick<ManagementCall, 'actor' | 'nowMs'>,
  proposal: AuditedProposal<R>,
): Proposal<R> {
  if (proposal.change === null) return proposal;
  const { result, change, audited } = proposal;
  const audit = [audited].flat().map((action) => auditRecord(actor, action, { nowMs, random }));
  return { result, change: { ...change, audit } };
}

type IdempotentCommit<C, R> = {
  /**
   * The rules about the caller: credential, permission, ceiling, administrator and ownership. They run before a stored
   * answer is sent again, too, because it may hold a token that the caller could no longer get. A rule that
   * refuses only what the first request changed does not belong here, or checks `call.replay` first.
   */
  readonly checkCaller: () => Promise<C>;
  /** All other rules, and the change. `checked` is the answer of `checkCaller`. */
  readonly attempt: (checked: C) => AuditedProposal<R> | Promise<AuditedProposal<R>>;
  readonly onProjectKeyTaken?: () => never;
};

/** As `commitAudited`, for operations with idempotency keys: a repeated request ends once its caller is checked. */
export function commitIdempotently<C, R>(
  deps: CommitDeps,
  call: IdempotentCall<R>,
  { checkCaller, attempt, onProjectKeyTaken }: IdempotentCommit<C, R>,
): Promise<R> {
  return commitOptimistically(deps.store, call.actor.organizationId, {
    onProjectKeyTaken,
    async attempt() {
      const checked = await checkCaller();
      call.replay?.pass();
      const proposal = withAudit(deps, call, await attempt(checked));
      if (proposal.change === null) return proposal;
      const receipt = call.receipt(proposal.result);
      return receipt === undefined ? proposal : { ...proposal, change: { ...proposal.change, receipt } };
    },
  });
}

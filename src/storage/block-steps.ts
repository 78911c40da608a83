/** Builds blocks behind a log, one per step: for the search index of each project, and for the spend of each organization. */

import { type Clock, type Lease, leaseMaxMs } from '../domain/clock.ts';

/**
 * The first tenant after another one with enough for a block, or null up to `last`; `last` is null when no tenants are
 * left.
 */
export type NextTenant = { readonly tenant: number | null; readonly last: number | null };

type BlockStepsDeps = {
  readonly findNext: (after: number) => Promise<NextTenant>;
  /** Returns whether it changed anything. */
  readonly build: (tenant: number, lease: Lease) => Promise<boolean>;
  /** The clock of leases, which all processes share. */
  readonly clock: Clock;
};

// A block takes well under a second; the lease allows for a busy machine.
const LEASE_MS = 120_000;

/** `done`: a whole round over all tenants changed nothing. */
export function createBlockSteps({ findNext, build, clock }: BlockStepsDeps): () => Promise<'more' | 'done'> {
  let lastTenant = 0;
  let isRoundIdle = true;

  async function buildNoted(tenant: number): Promise<void> {
    const wasIdle = isRoundIdle;
    isRoundIdle = false;
    const nowMs = clock();
    if (!(await build(tenant, { nowMs, untilMs: nowMs + LEASE_MS }))) isRoundIdle = wasIdle;
  }

  return async () => {
    const { tenant, last } = await findNext(lastTenant);
    // Moves on before it builds, so that a tenant whose blocks fail does not delay the others.
    lastTenant = last ?? 0;
    if (tenant !== null) await buildNoted(tenant);
    if (last !== null) return 'more';
    const isDone = isRoundIdle;
    isRoundIdle = true;
    return isDone ? 'done' : 'more';
  };
}

/** Whether another process may still build under its lease. */
export function isLeased(leasedUntilMs: number, lease: Lease): boolean {
  return leasedUntilMs > lease.nowMs && leasedUntilMs <= leaseMaxMs(lease);
}

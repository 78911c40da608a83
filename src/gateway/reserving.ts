/** Reserves what a request may cost, and admits it. */

import type { RequestStore } from '../domain/events/log-port.ts';
import { Fault } from '../domain/fault.ts';
import { faultOf, type GatewayFault, UNAVAILABLE_FAULT } from '../domain/gateway/gateway-fault.ts';
import type { LeaseHolder, Reservation } from '../domain/gateway/lease-holder.ts';
import { contentOf } from '../domain/gateway/proxied-request.ts';
import { type BudgetedRequest, reserveBeyond, reserveFor } from '../domain/gateway/request-budgets.ts';
import type { Candidate } from './attempts.ts';
import type { Prepared } from './prepared.ts';

type ReservingDeps = {
  readonly store: Pick<RequestStore, 'admit'>;
  readonly holder: LeaseHolder;
  readonly onError: (error: unknown, message: string) => void;
};

export type Reserved = {
  readonly reservation: Reservation;
  /** The one that it was reserved for, and those after it. */
  readonly candidates: readonly [Candidate, ...Candidate[]];
};

const ADMISSIONS_MAX = 3;

export type Reserving = ReturnType<typeof createReserving>;

export function createReserving({ store, holder, onError }: ReservingDeps) {
  async function reserve(prepared: Prepared): Promise<Reserved | GatewayFault> {
    let refusal: GatewayFault | null = null;
    for (const [index, candidate] of prepared.candidates.entries()) {
      const reservation = await reserveFor(holder, budgetedOf(prepared), candidate);
      if (!('code' in reservation)) {
        return { reservation, candidates: [candidate, ...prepared.candidates.slice(index + 1)] };
      }
      // Another provider may have a budget of its own.
      refusal ??= faultOf(reservation);
    }
    return refusal ?? UNAVAILABLE_FAULT;
  }

  async function commit(admission: Parameters<RequestStore['admit']>[0]): Promise<'admitted' | 'lost' | 'unknown'> {
    try {
      return await store.admit(admission);
    } catch (error) {
      const isAway = error instanceof Fault && error.code === 'unavailable';
      if (!isAway) onError(error, 'the admission of a request through the gateway failed');
      return 'unknown';
    }
  }

  /** Never rejects. */
  async function reserveAgain(prepared: Prepared): Promise<Reserved | GatewayFault> {
    try {
      return await reserve(prepared);
    } catch (error) {
      onError(error, 'what a request through the gateway may cost could not be reserved');
      return UNAVAILABLE_FAULT;
    }
  }

  return {
    reserve,
    /** Null once the admission is durable. Never rejects. */
    async admit(prepared: Prepared, { reservation, candidates }: Reserved): Promise<GatewayFault | null> {
      const { request } = prepared;
      const { organization, project } = request.presented;
      const [first] = candidates;
      let reserved = reservation;
      for (let round = 1; ; round += 1) {
        const state = await commit({
          kind: 'admission',
          organizationId: organization.id,
          organizationNumber: organization.number,
          projectId: project.id,
          projectNumber: project.number,
          receivedAtMs: request.startedAtMs,
          gatewayRequestId: request.gatewayRequestId,
          content: contentOf(request, first, request.startedAtMs),
          ...reserved,
        });
        holder.conclude(reserved, state);
        if (state === 'admitted') return null;
        if (state === 'unknown' || round === ADMISSIONS_MAX) return UNAVAILABLE_FAULT;
        // The stored lease was another one's, or the budget is spent: what is left is reserved anew.
        const again = await reserveAgain({ ...prepared, candidates: [first] });
        if ('httpStatus' in again) return again;
        reserved = again.reservation;
      }
    },
    /** Nothing was sent. */
    cancel: ({ reservation }: Reserved) => holder.conclude(reservation, 'cancelled'),
    /** Reserves what the request may cost with another provider beyond that, and returns how to give it back; null: refused. */
    async reserveMore(
      prepared: Prepared,
      { candidates: [first] }: Reserved,
      next: Candidate,
    ): Promise<(() => void) | null> {
      const extra = await reserveBeyond(holder, budgetedOf(prepared), { first, next });
      // The outcome counts the cost, and takes nothing out of this lease: so it goes back whole.
      return 'code' in extra ? null : () => holder.conclude(extra, 'lost');
    },
  };
}

function budgetedOf({ request, setup, prices, body, medianOutputTokens }: Prepared): BudgetedRequest {
  const { presented, endUserId, startedAtMs: atMs } = request;
  return { presented, setup, prices, body, endUserId, medianOutputTokens, atMs };
}

/** Whose turn it is to get a slot, and how many slots an endpoint may have: what organizations and endpoints share. */

import { type DispatchState, isFailing } from './dispatch-state.ts';
import type { EndpointState } from './endpoint-state.ts';

/** The most slots of an organization for each slot that is free, where several organizations get events. */
const SLOTS_PER_FREE_ONE = 7;

/**
 * The most characters of the events in attempts. With the body, and its copy that waits for a slow receiver, an attempt takes two
 * to three times as many bytes.
 */
const BODIES_MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * The endpoint that may get the next slot; undefined: none, or no room. Where several organizations get events, each keeps to a
 * multiple of the slots that are free: one alone leaves an eighth, two leave a fifteenth. So of eight slots or more the first event
 * of another one finds one, even if all receivers of the others answer late.
 */
export function takeTurn({ ready, slots, bodies, concurrency, isShared }: DispatchState): EndpointState | undefined {
  const free = concurrency - slots.total();
  if (free <= 0 || bodies.total() >= BODIES_MAX_CHARACTERS) return undefined;
  const slotsMax = isShared ? SLOTS_PER_FREE_ONE * free : concurrency;
  const bodiesMax = bodiesOfOrganizationMax(isShared);
  return ready.next(
    (organizationNumber) => slots.of(organizationNumber) < slotsMax && bodies.of(organizationNumber) < bodiesMax,
  );
}

function bodiesOfOrganizationMax(isShared: boolean): number {
  return isShared ? BODIES_MAX_CHARACTERS / 2 : BODIES_MAX_CHARACTERS;
}

/**
 * Failing endpoints together get half of the slots, and of what their organization may have in attempts; an endpoint gets one slot
 * while half of all are taken. `isFailingDelayed`: no claim of a failing endpoint may start now.
 */
export function slotsOf(
  dispatch: DispatchState,
  state: EndpointState,
  { isFailingDelayed }: { readonly isFailingDelayed: boolean },
): number {
  const { slots, failingBodies, failingInFlight, concurrency, isShared } = dispatch;
  const { organizationNumber, maxInFlight } = state.endpoint;
  if (!isFailing(state)) return slots.total() * 2 >= concurrency ? 1 : maxInFlight;
  const hasNoRoom = failingBodies.of(organizationNumber) * 2 >= bodiesOfOrganizationMax(isShared);
  return failingInFlight * 2 >= concurrency || hasNoRoom || isFailingDelayed ? 0 : 1;
}

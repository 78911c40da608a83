/** What the model says about a request, and what it looks at to say so. */

import { holdsAdmin, mayDo, organizationPlace, type Place } from './power.ts';
import type { Key, Organization, State } from './state.ts';

type Json = Readonly<Record<string, unknown>>;

/** A request, in the words of REST. */
export type Ask = {
  readonly rpc: string;
  /** In Authorization. */
  readonly token: string | null;
  /** Another one, in X-Auth-Token. */
  readonly authToken?: string;
  /** The parameter of the path. */
  readonly id?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** X-Project-Id */
  readonly project?: string;
  /** Idempotency-Key */
  readonly once?: string;
};

export type Allowed = {
  readonly kind: 'allowed';
  readonly status: number;
  /** Members that the answer has, with these values; others are not looked at. */
  readonly shows?: Json;
  /** What `data` holds: exactly these, in this order. */
  readonly lists?: readonly Json[];
  /** The same, in any order. */
  readonly holds?: readonly Json[];
  /** Members that hold a secret, the only ones of any answer. */
  readonly secrets?: readonly string[];
  /** Takes over what the request did. Sees the answer, which tells the ids and secrets that were made. */
  commit?(body: Json): void;
  /** Whether it is the answer of an earlier request. */
  readonly isReplay?: boolean;
  /** What was worth meeting. */
  readonly facts?: readonly string[];
};

export type Refused = {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string;
  /** Members of the error; undefined: it has none of that name. */
  readonly members: Json;
  readonly facts: readonly string[];
};

export type Verdict = Allowed | Refused;

/** Thrown by the rules, and caught where they are asked. */
export class Refusal {
  readonly verdict: Refused;
  constructor(status: number, code: string, members: Json = {}, facts: readonly string[] = []) {
    this.verdict = { kind: 'refused', status, code, members, facts };
  }
}

export function refuse(status: number, code: string, members: Json = {}): never {
  throw new Refusal(status, code, members);
}

/** A request of an API key that works. */
export type Call = {
  readonly state: State;
  readonly organization: Organization;
  readonly key: Key;
  readonly ask: Ask;
  /** The answer that is given again once the rights of the caller are judged, because the effect is there already. */
  readonly kept: Json | null;
};

/** Refuses for what is there by now, which a repetition of a request that was granted does not mind. */
export function conflictWhen(isSo: boolean, call: Call, [status, code]: readonly [number, string]): void {
  if (isSo && call.kept === null) refuse(status, code);
}

export function allow(status: number, more: Omit<Allowed, 'kind' | 'status'> = {}): Allowed {
  return { kind: 'allowed', status, ...more };
}

export function may({ organization, key }: Call, permission: string, place: Place): boolean {
  return mayDo(organization, key, [permission, place]);
}

export function mayAtOrganization(call: Call, permission: string): boolean {
  return may(call, permission, organizationPlace(call.organization));
}

export function requirePermission(call: Call, permission: string, place: Place): void {
  if (!may(call, permission, place)) {
    refuse(403, 'insufficient_permissions', { requiredPermission: permission });
  }
}

export function requireAtOrganization(call: Call, permission: string): void {
  requirePermission(call, permission, organizationPlace(call.organization));
}

/** Seeing follows the person. */
export function isAdministratorMember({ organization, key }: Call): boolean {
  if (key.userId === null) return holdsAdmin(key.grants, organization);
  return organization.members.get(key.userId)?.role === 'ADMIN';
}

/** Changing follows the key. */
export function isAdministrator(call: Call): boolean {
  return isAdministratorMember(call) && holdsAdmin(call.key.grants, call.organization);
}

export function requireAdministrator(call: Call): void {
  if (!isAdministrator(call)) refuse(403, 'administrator_required');
}

export function instant(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

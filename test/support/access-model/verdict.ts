/** A request to the model, and the model's verdict on it. */

import { holdsAdmin, mayDo, organizationScope, type ScopeChain } from './power.ts';
import type { Key, Organization, State } from './state.ts';

type Json = Readonly<Record<string, unknown>>;

/** A request, in the terms of REST. */
export type Ask = {
  readonly rpc: string;
  /** In Authorization. */
  readonly token: string | null;
  /** A second token, in X-Auth-Token. */
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
  /** Members that the answer must have; others are ignored. */
  readonly shows?: Json;
  /** The exact items of `data`, in this order. */
  readonly lists?: readonly Json[];
  /** The items of `data`, in any order. */
  readonly holds?: readonly Json[];
  /** The only members of the answer that may hold secrets. */
  readonly secrets?: readonly string[];
  /** Applies the request to the state, with the ids and secrets from the answer. */
  commit?(body: Json): void;
  /** True when the server replays an earlier answer. */
  readonly isReplay?: boolean;
  /** Facts that a run must cover. */
  readonly facts?: readonly string[];
};

export type Refused = {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string;
  /** Members of the error; undefined: the error must lack the member. */
  readonly members: Json;
  readonly facts: readonly string[];
};

export type Verdict = Allowed | Refused;

/** Thrown by the rules; `judge` catches it. */
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
  /** The stored answer of a replay; null for a new request. A replay only checks the caller's rights. */
  readonly kept: Json | null;
};

/** Refuses for a conflict with current data, unless the request is a replay. */
export function conflictWhen(isSo: boolean, call: Call, [status, code]: readonly [number, string]): void {
  if (isSo && call.kept === null) refuse(status, code);
}

export function allow(status: number, more: Omit<Allowed, 'kind' | 'status'> = {}): Allowed {
  return { kind: 'allowed', status, ...more };
}

export function may({ organization, key }: Call, permission: string, scope: ScopeChain): boolean {
  return mayDo(organization, key, [permission, scope]);
}

export function mayAtOrganization(call: Call, permission: string): boolean {
  return may(call, permission, organizationScope(call.organization));
}

export function requirePermission(call: Call, permission: string, scope: ScopeChain): void {
  if (!may(call, permission, scope)) {
    refuse(403, 'insufficient_permissions', { requiredPermission: permission });
  }
}

export function requireAtOrganization(call: Call, permission: string): void {
  requirePermission(call, permission, organizationScope(call.organization));
}

/** Visibility needs the owner's role. */
export function isAdministratorMember({ organization, key }: Call): boolean {
  if (key.userId === null) return holdsAdmin(key.grants, organization);
  return organization.members.get(key.userId)?.role === 'ADMIN';
}

/** Changes need the key's grants too. */
export function isAdministrator(call: Call): boolean {
  return isAdministratorMember(call) && holdsAdmin(call.key.grants, call.organization);
}

export function requireAdministrator(call: Call): void {
  if (!isAdministrator(call)) refuse(403, 'administrator_required');
}

export function instant(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

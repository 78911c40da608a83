/** The caller of a request, after its credential is verified. */

import type { Binding, Grants, Principal } from './keys/permissions.ts';
import type { SessionRecord } from './sessions/session.ts';

/** The fields of a project that requests need. `number` is its short id in storage rows. */
export type Project = {
  readonly id: string;
  readonly number: number;
  readonly slug: string;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly priceVersion: Organization['priceVersion'];
  readonly promptVersion: Organization['promptVersion'];
  readonly teamId: string;
  readonly emitRequestEvents: boolean;
  /** As stored: null when the project never chose a term, 0 for ever; see retention-terms.ts. */
  readonly traceRetentionDays: number | null;
  readonly archivedAtMs: number | null;
};

/** For whom something is done, where tenants share what is scarce. */
export type Tenant = { readonly organizationId: string; readonly projectId: string };

export function tenantOf({ id, organizationId }: Project): Tenant {
  return { organizationId, projectId: id };
}

/** The fields of an organization that requests need. */
export type Organization = {
  readonly id: string;
  readonly number: number;
  /** Increases with every change of its price overrides; 0 when it never had one. */
  readonly priceVersion: number;
  /** Increases with every change of its prompts and their tags; 0 when it never had any. */
  readonly promptVersion: number;
};

/** A stored API key with everything that decides whether it is valid and what it permits. */
export type ApiKey = {
  readonly id: string;
  readonly keyType: 'personal' | 'service';
  readonly organization: Organization;
  readonly userId: string | null;
  readonly secretHash: Buffer;
  readonly previousSecretHash: Buffer | null;
  readonly previousSecretUntilMs: number | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** True when the owner may sign in; always true for service keys. */
  readonly ownerActive: boolean;
  readonly bindings: readonly Binding[];
  readonly ownerBindings: readonly Binding[];
};

/** A stored session with what decides about those of people; the rights of others are those of the keys that began them. */
export type PresentedSession = SessionRecord & {
  readonly organization: Organization;
  /** True when the person may sign in; false where there is none. */
  readonly ownerActive: boolean;
  readonly ownerBindings: Grants;
};

/** The key of a caller. The id is null for a person who signed in without one, and acts as with a key that has all their roles. */
export type CallingKey = Pick<ApiKey, 'keyType' | 'organization' | 'userId' | 'bindings' | 'ownerBindings'> & {
  readonly id: string | null;
  readonly expiresAtMs: number | null;
};

/** What a caller with a key of any kind has proved. */
type Proven = {
  /** The stored hash of the token that was presented, or that began the session; of the identity in a session of a person. */
  readonly keyHash: Buffer;
  /** Set when a session was presented, and not the key that began it. */
  readonly session?: Pick<SessionRecord, 'id'>;
};

export type Caller =
  | { readonly kind: 'open' }
  | (Proven & {
      readonly kind: 'project_key';
      readonly principal: Principal;
      readonly organization: Organization;
      readonly project: Project;
    })
  | (Proven & {
      readonly kind: 'api_key';
      readonly principal: Principal;
      readonly organization: Organization;
      readonly key: CallingKey;
      /** The project of the request, on project routes. */
      readonly project: Project | null;
    });

/** A caller with a credential. */
export type SignedIn = Exclude<Caller, { kind: 'open' }>;

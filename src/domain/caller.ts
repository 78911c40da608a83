/** The caller of a request, after its credential is verified. */

import type { Binding, Principal } from './keys/permissions.ts';
import type { SessionRecord } from './sessions/session.ts';

/** The fields of a project that requests need. `number` is its short id in storage rows. */
export type Project = {
  readonly id: string;
  readonly number: number;
  readonly slug: string;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly priceVersion: Organization['priceVersion'];
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

/** What a caller with a key of any kind has proved. */
type Proven = {
  /** The stored hash of the token that was presented, or that began the session. */
  readonly keyHash: Buffer;
  /** Set when the key was not presented itself, but a session that it began. */
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
      readonly key: ApiKey;
      /** The project of the request, on project routes. */
      readonly project: Project | null;
    });

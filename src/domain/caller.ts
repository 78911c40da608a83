/** Who is calling, once the credential is proven. */

import type { Binding, Principal } from './permissions.ts';

/** A project as far as requests need it. `number` is its short form inside storage rows. */
export type Project = {
  readonly id: string;
  readonly number: number;
  readonly slug: string;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly priceVersion: Organization['priceVersion'];
  readonly teamId: string;
  readonly emitRequestEvents: boolean;
  /** As stored: null when the project never chose, 0 for ever; see trace-retention.ts. */
  readonly traceRetentionDays: number | null;
  readonly archivedAtMs: number | null;
};

/** An organization as far as requests need it. */
export type Organization = {
  readonly id: string;
  readonly number: number;
  /** Moves on with every change of its price overrides; 0: it never had one. */
  readonly priceVersion: number;
};

/** The stored side of an API key, with all that decides whether and what it may. */
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

export type Caller =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'project_key';
      readonly principal: Principal;
      readonly organization: Organization;
      readonly project: Project;
    }
  | {
      readonly kind: 'api_key';
      readonly principal: Principal;
      readonly organization: Organization;
      readonly key: ApiKey;
      /** The project the request is about, on project routes. */
      readonly project: Project | null;
    };

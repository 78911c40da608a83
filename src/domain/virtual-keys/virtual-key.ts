/** A virtual key as it is stored, with the rules for its requests. */

import type { Organization, Project } from '../caller.ts';
import type { PageRange } from '../management/listing.ts';

export type VirtualKeyStatus = 'active' | 'disabled' | 'revoked';

/** The rules for the requests of a key. */
export type VirtualKeyConfig = {
  /** Names of models, in which * stands for any characters; null: all. */
  readonly modelsAllowed: readonly string[] | null;
  /** Ids of model providers in the order in which they are tried; null: all that the project uses, oldest first. */
  readonly providers: readonly string[] | null;
  readonly fallback: { readonly maxAttempts: number };
  /** Null: no limit. */
  readonly rateLimits: { readonly rpm: number | null; readonly tpm: number | null; readonly rpd: number | null };
  readonly cache: { readonly mode: 'off' | 'exact'; readonly ttlSeconds: number };
  /** Ids of evaluators of the project. */
  readonly guardrails: { readonly pre: readonly string[]; readonly post: readonly string[] };
  readonly capture: 'full' | 'metadata';
  readonly allowUnpriced: boolean;
};

export const DEFAULT_CONFIG: VirtualKeyConfig = {
  modelsAllowed: null,
  providers: null,
  fallback: { maxAttempts: 3 },
  rateLimits: { rpm: null, tpm: null, rpd: null },
  cache: { mode: 'off', ttlSeconds: 3_600 },
  guardrails: { pre: [], post: [] },
  capture: 'full',
  allowUnpriced: false,
};

export type VirtualKeyRecord = {
  readonly organizationId: string;
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: VirtualKeyStatus;
  readonly displayPrefix: string;
  /** The keyed hash of the whole secret. */
  readonly secretHash: Buffer;
  /** The secret before the last rotation, which works until an instant; both null when there is none. */
  readonly previousSecretHash: Buffer | null;
  readonly previousSecretUntilMs: number | null;
  /** The member that requests are made for. */
  readonly principalUserId: string | null;
  readonly traceProjectId: string;
  /** Unique in the organization. */
  readonly externalId: string | null;
  readonly metadataJson: string;
  readonly labels: readonly string[];
  readonly config: VirtualKeyConfig;
  /** Ascending from 1 with every change. */
  readonly revision: number;
  readonly lastUsedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** A virtual key, and the project of its spans and requests. */
export type VirtualKeyProject = Pick<VirtualKeyRecord, 'id' | 'traceProjectId'>;

/** What a gateway needs of a key that was presented. */
export type PresentedKey = {
  readonly key: Omit<VirtualKeyRecord, 'secretHash' | 'previousSecretHash'>;
  readonly organization: Organization;
  /** The project of its spans and requests. */
  readonly project: Project;
  /** True when the member that requests are made for may sign in, and for a key without one. */
  readonly principalActive: boolean;
};

export type VirtualKeyListing = PageRange & {
  /** The projects whose keys are listed. */
  readonly projectIds: readonly string[] | 'all';
  /** Null: any. */
  readonly externalId: string | null;
};

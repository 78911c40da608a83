/** Links by which anyone reads one trace, and their port. */

import type { AuditRecord } from '../../management/management.ts';

export type TraceShare = {
  readonly projectId: string;
  readonly id: string;
  readonly secretHash: Buffer;
  /** As it is stored. */
  readonly traceId: string;
  /** The member who made it; null for service keys and project keys. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
};

export type ShareLimits = { readonly liveMax: number; readonly erasedBeforeMs: number };

export type TraceShareStore = {
  /**
   * MUST return `limit_reached` and store nothing when the project has `liveMax` that have not expired at the time of its
   * creation. Removes those of the project that expired before `erasedBeforeMs`. Stores `audited` with it.
   */
  insert(share: TraceShare, limits: ShareLimits, audited: AuditRecord): Promise<'stored' | 'limit_reached'>;
  /** The newest first; those of one trace, if given. */
  list(
    projectId: string,
    of: { readonly traceId: string | null; readonly nowMs: number },
  ): Promise<readonly TraceShare[]>;
  /** Of whichever project, also when it has expired. */
  findBySecret(secretHash: Buffer): Promise<TraceShare | null>;
  /** MUST return false and store nothing when the project has no such share. Stores `audited` with the removal. */
  remove(projectId: string, id: string, audited: AuditRecord): Promise<boolean>;
};

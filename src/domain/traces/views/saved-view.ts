/** Named states of the list of traces, and their port. */

import type { PageRange } from '../../management/listing.ts';
import type { AuditRecord } from '../../management/management.ts';

export type SavedView = {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** The query of the list's address in the console. */
  readonly search: string;
  readonly visibility: 'PROJECT' | 'PERSONAL';
  /** The member who saved it, always set for a personal one; null for service keys and project keys. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  /** Strictly increasing. */
  readonly updatedAtMs: number;
};

/** How many views of a project are kept. */
export type SavedViewsMax = {
  readonly ofProject: number;
  /** Of one person, personal. */
  readonly ofPerson: number;
};

/** The views that a person sees; null: who is not a person sees those of the project. */
export type SavedViewListing = PageRange & { readonly userId: string | null };

export type SavedViewStore = {
  /** Newest first by (createdAt, id). MUST NOT return personal views of other people. */
  list(projectId: string, listing: SavedViewListing): Promise<readonly SavedView[]>;
  /** Of whichever person; null when the project has none with the id. */
  find(projectId: string, id: string): Promise<SavedView | null>;
  /**
   * MUST return `limit_reached` and store nothing where as many are kept of those that the limit of the view counts. Stores
   * `audited` with it.
   */
  insert(view: SavedView, max: SavedViewsMax, audited: AuditRecord): Promise<'stored' | 'limit_reached'>;
  /**
   * MUST return `stale` and store nothing when the view was changed or removed since `expectedUpdatedAtMs`, and `limit_reached`
   * where it would count to a limit that it did not count to. Stores `audited` with it.
   */
  replace(
    view: SavedView,
    expected: { readonly updatedAtMs: number; readonly max: SavedViewsMax },
    audited: AuditRecord,
  ): Promise<'stored' | 'stale' | 'limit_reached'>;
  /** MUST return false and store nothing when the project has no such view. Stores `audited` with the removal. */
  remove(projectId: string, id: string, audited: AuditRecord): Promise<boolean>;
};

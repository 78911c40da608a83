/** The port of monitors. */

import type { Monitor } from './monitor.ts';

export type MonitorStore = {
  /**
   * MUST keep ids and slugs unique in the project: answers `slug_taken` without storing when the slug is used,
   * `limit_reached` when the project already holds `liveMax` monitors, and `evaluator_gone` when its evaluator is not
   * there any more. Every append that begins after the answer MUST see the monitor.
   */
  insert(
    monitor: Monitor,
    limit: { readonly liveMax: number },
  ): Promise<'stored' | 'slug_taken' | 'limit_reached' | 'evaluator_gone'>;
  /** By id first, then by slug, case-sensitive; null for another project's and for one that is deleted. */
  find(projectId: string, idOrSlug: string): Promise<Monitor | null>;
  /** The same by the number of the project. */
  findInProject(projectNumber: number, id: string): Promise<Monitor | null>;
  /** All of the project. Deleted ones are left out. */
  list(projectId: string): Promise<readonly Monitor[]>;
  /**
   * Stores all but id, slug and the time it was made anew. MUST answer `stale` and store nothing when the monitor is
   * deleted, or was updated at another instant than `expectedUpdatedAtMs`; `evaluator_gone` when it is to be enabled and
   * its evaluator is not there any more. Every append that begins after the answer MUST go by what is stored;
   * no append is refused or lost because of a change, however many there are.
   */
  replace(monitor: Monitor, expectedUpdatedAtMs: number): Promise<'stored' | 'stale' | 'evaluator_gone'>;
  /**
   * MUST hide the monitor from every read from now on, free its slug and its place. False when there is none. What waits
   * for it comes to nothing when it is claimed: nobody waits here until a backlog is gone through.
   */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};

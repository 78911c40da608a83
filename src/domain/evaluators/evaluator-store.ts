/** What a store does with saved evaluators. */

import type { Evaluator } from '../evaluator.ts';

export type EvaluatorStore = {
  /**
   * MUST keep ids and slugs unique in the project: answers `slug_taken` without storing when the slug is
   * used, and `limit_reached` when the project already holds `liveMax` evaluators.
   */
  insert(evaluator: Evaluator, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** By id first, then by slug, case-sensitive; null for another project's and for one that is deleted. */
  find(projectId: string, idOrSlug: string): Promise<Evaluator | null>;
  /** In the order of ids, which no change moves; those behind `afterId`. Deleted ones are left out. */
  list(projectId: string, page: EvaluatorPage): Promise<readonly Evaluator[]>;
  /**
   * Stores name, config and fields anew. MUST answer `stale` and store nothing when the evaluator is deleted, or was
   * updated at another instant than `expectedUpdatedAtMs`.
   */
  replace(evaluator: Evaluator, expectedUpdatedAtMs: number): Promise<'stored' | 'stale'>;
  /**
   * MUST hide the evaluator from every read from now on, free its slug and its place, keep what was stored, and disable
   * the monitors that run it. False when there is none.
   */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};

export type EvaluatorPage = { readonly afterId: string | null; readonly limit: number };

/** Saved evaluators and their port. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isObject, type LosslessObject } from '../../json/lossless-json.ts';

export type EvaluatorField = { readonly identifier: string; readonly type: string; readonly optional: boolean };

export type Evaluator = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly type: 'evaluator' | 'workflow' | 'code';
  /** Compact JSON text of an object. */
  readonly configJson: string;
  readonly workflowId: string | null;
  readonly workflowName: string | null;
  readonly workflowIcon: string | null;
  readonly copiedFromEvaluatorId: string | null;
  readonly fields: readonly EvaluatorField[];
  readonly outputFields: readonly EvaluatorField[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type EvaluatorStore = {
  /**
   * MUST keep ids and slugs unique in the project: returns `slug_taken` without storing when the slug is
   * used, and `limit_reached` when the project already holds `liveMax` evaluators.
   */
  insert(evaluator: Evaluator, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** By id first, then by slug, case-sensitive; null for an evaluator of another project or a deleted one. */
  find(projectId: string, idOrSlug: string): Promise<Evaluator | null>;
  /** All evaluators of the project, in any order, without their texts. Deleted evaluators are left out. */
  measure(projectId: string): Promise<readonly EvaluatorSize[]>;
  /** Those of the evaluators that are not deleted, in any order. */
  findAll(projectId: string, ids: readonly string[]): Promise<readonly Evaluator[]>;
  /**
   * Replaces name, config and fields. MUST answer `stale` and store nothing when the evaluator is deleted, or was updated
   * at another instant than `expectedUpdatedAtMs`.
   */
  replace(evaluator: Evaluator, expectedUpdatedAtMs: number): Promise<'stored' | 'stale'>;
  /**
   * MUST hide the evaluator from every later read, free its slug and its share of the limit, keep its row, and disable
   * the monitors that run it. False when it does not exist.
   */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};

export type EvaluatorSize = Pick<Evaluator, 'id' | 'updatedAtMs'> & {
  /** Of its texts as they are stored. */
  readonly bytes: number;
};

/** Parses the JSON text of an object that was validated when it was stored; empty for anything else. */
export function readStoredObject(json: string): LosslessObject {
  const parsed = parseLossless(json, { depth: Number.POSITIVE_INFINITY });
  return parsed.kind === 'value' && isObject(parsed.value) ? parsed.value : {};
}

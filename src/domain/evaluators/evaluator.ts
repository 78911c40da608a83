/** Saved evaluators and their port. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isObject, type LosslessObject } from '../../json/lossless-json.ts';
import type { Resource, ResourceStore } from '../resources.ts';

export type EvaluatorField = { readonly identifier: string; readonly type: string; readonly optional: boolean };

export type Evaluator = Resource & {
  readonly type: 'evaluator' | 'workflow' | 'code';
  /** Compact JSON text of an object. */
  readonly configJson: string;
  readonly workflowId: string | null;
  readonly workflowName: string | null;
  readonly workflowIcon: string | null;
  readonly copiedFromEvaluatorId: string | null;
  readonly fields: readonly EvaluatorField[];
  readonly outputFields: readonly EvaluatorField[];
};

/** `remove` MUST keep the row of the evaluator, and disable the monitors that run it. */
export type EvaluatorStore = ResourceStore<Evaluator> & {
  /**
   * MUST keep ids and slugs unique in the project: returns `slug_taken` without storing when the slug is
   * used, and `limit_reached` when the project already holds `liveMax` evaluators.
   */
  insert(evaluator: Evaluator, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'>;
  /** All evaluators of the project, in any order, without their texts. Deleted evaluators are left out. */
  measure(projectId: string): Promise<readonly EvaluatorSize[]>;
  /** Those of the evaluators that are not deleted, in any order. */
  findAll(projectId: string, ids: readonly string[]): Promise<readonly Evaluator[]>;
  /**
   * Replaces name, config and fields. MUST return `stale` and store nothing when the evaluator is deleted, or was updated
   * at another instant than `expectedUpdatedAtMs`.
   */
  replace(evaluator: Evaluator, expectedUpdatedAtMs: number): Promise<'stored' | 'stale'>;
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

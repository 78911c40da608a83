/** A saved evaluator as rules and storage see it. */

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

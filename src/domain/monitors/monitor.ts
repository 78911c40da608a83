/** A monitor as rules and storage see it: a saved evaluator that runs on traces. */

export const EXECUTION_MODES = ['ON_MESSAGE', 'AS_GUARDRAIL', 'MANUALLY'] as const;
export type ExecutionMode = (typeof EXECUTION_MODES)[number];

export type PreconditionValue = string | number | boolean;

/** What must hold of a trace. */
export type Precondition = {
  /** `span.type`, `label`, or `metadata.` and the name of a member. */
  readonly field: string;
  readonly value: PreconditionValue;
};

/** By fields of the evaluator, the source that each is read from (sources.ts). */
export type Mappings = { readonly [field: string]: string };

export type Monitor = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly evaluatorId: string;
  /** The entry of the catalogue behind the evaluator. */
  readonly checkType: string;
  readonly enabled: boolean;
  /** The share of traces it looks at, from 0 to 1. */
  readonly sample: number;
  readonly preconditions: readonly Precondition[];
  readonly mappings: Mappings;
  /** Compact JSON text of an object: settings laid over those of the evaluator. */
  readonly parametersJson: string;
  readonly executionMode: ExecutionMode;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

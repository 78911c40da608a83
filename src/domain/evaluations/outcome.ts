/** What one run of an evaluator is given, and what comes of it. */

import type { Organization, Project } from '../caller.ts';
import type { LosslessObject } from '../lossless-json.ts';

export type ConversationTurn = { readonly input: string; readonly output: string };

/** A text, or a list of them; conversations are lists of turns. */
export type EvaluationValue = string | readonly string[] | readonly ConversationTurn[];

export type EvaluationRun = {
  /** Whose it is: projects take turns where runs have to wait. */
  readonly projectId: string;
  /** By whose prices it is charged. */
  readonly organization: Pick<Organization, 'id' | 'priceVersion'>;
  /** An id of the catalogue, for example `langevals/exact_match`. */
  readonly evaluatorType: string;
  /** The defaults of the catalogue with what was saved and sent laid over them; judged already. */
  readonly settings: LosslessObject;
  /** By the name of the field. What is missing is not there; an empty text or list is a value. */
  readonly data: { readonly [field: string]: EvaluationValue };
};

/** The project as whose a run counts. */
export function ownerOf({
  id,
  organizationId,
  priceVersion,
}: Project): Pick<EvaluationRun, 'projectId' | 'organization'> {
  return { projectId: id, organization: { id: organizationId, priceVersion } };
}

/** Members that the evaluator does not yield are null. */
export type ProcessedOutcome = {
  readonly status: 'processed';
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly label: string | null;
  readonly details: string | null;
  readonly costNanoUsd: number | null;
};

export type EvaluationOutcome =
  | ProcessedOutcome
  | { readonly status: 'skipped'; readonly details: string }
  | {
      readonly status: 'error';
      /** For example `EVALUATOR_TIMEOUT`. */
      readonly errorType: string;
      readonly details: string;
      /** Whether the same run may succeed later. */
      readonly isRetryable: boolean;
    };

/** Runs an evaluator of the catalogue. Never rejects: what goes wrong is an outcome. */
export type RunEvaluator = (run: EvaluationRun, signal: AbortSignal) => Promise<EvaluationOutcome>;

/** The input and the outcome of one run of an evaluator. */

import type { LosslessObject } from '../../json/lossless-json.ts';
import type { Organization, Project } from '../caller.ts';

export type ConversationTurn = { readonly input: string; readonly output: string };

/** A text, a list of texts, or a conversation as a list of turns. */
export type EvaluationValue = string | readonly string[] | readonly ConversationTurn[];

export type EvaluationRun = {
  /** Projects take turns when runs have to wait. */
  readonly projectId: string;
  /** The organization whose prices apply. */
  readonly organization: Pick<Organization, 'id' | 'priceVersion'>;
  /** An id of the catalogue, for example `langevals/exact_match`. */
  readonly evaluatorType: string;
  /** Defaults of the catalogue, overridden by saved and sent settings; already validated. */
  readonly settings: LosslessObject;
  /** By field name. A missing field is absent; an empty text or list is a value. */
  readonly data: { readonly [field: string]: EvaluationValue };
};

/** The owner of a run in a project. */
export function ownerOf({
  id,
  organizationId,
  priceVersion,
}: Project): Pick<EvaluationRun, 'projectId' | 'organization'> {
  return { projectId: id, organization: { id: organizationId, priceVersion } };
}

/** Null: the evaluator does not produce the member. */
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
      /** Whether a retry may succeed. */
      readonly isRetryable: boolean;
    };

export function failedOutcome(errorType: string, details: string, isRetryable = false): EvaluationOutcome {
  return { status: 'error', errorType, details, isRetryable };
}

/** Runs an evaluator of the catalogue. Never rejects: a failure is an outcome. */
export type RunEvaluator = (run: EvaluationRun, signal: AbortSignal) => Promise<EvaluationOutcome>;

/** Delays after the first three retryable failures; the fourth is the result. */
const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000];

/** `failures` is the number of earlier failures. Null: the outcome is final. */
export function retryDelayMs(outcome: EvaluationOutcome, failures: number): number | null {
  if (outcome.status !== 'error' || !outcome.isRetryable) return null;
  return RETRY_DELAYS_MS[failures] ?? null;
}

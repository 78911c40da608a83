/** The input and the outcome of one run of an evaluator. */

import type { LosslessObject } from '../../json/lossless-json.ts';
import type { PermitRequest } from '../../scheduling/tenant-semaphore.ts';
import type { Organization, Project } from '../caller.ts';

export type ConversationTurn = { readonly input: string; readonly output: string };

/** A text, a list of texts, or a conversation as a list of turns. */
export type EvaluationValue = string | readonly string[] | readonly ConversationTurn[];

export type EvaluationRun = {
  readonly projectId: string;
  /** Its prices apply. Organizations take turns when runs have to wait, and so do the projects of each. */
  readonly organization: Pick<Organization, 'id' | 'priceVersion'>;
  /** Guardrails are run before others that wait. */
  readonly isGuardrail: boolean;
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
      /** True: the texts were too large to be looked at. */
      readonly isUnread?: true;
    };

export function failedOutcome(errorType: string, details: string, isRetryable = false): EvaluationOutcome {
  return { status: 'error', errorType, details, isRetryable };
}

/** For texts that were too large to be looked at. A guardrail refuses them, because it must not pass what it did not see. */
export function unreadOutcome(errorType: string, details: string): EvaluationOutcome {
  return { status: 'error', errorType, details, isRetryable: false, isUnread: true };
}

/** For the semaphores on which runs wait. */
export function permitRequestOf({ organization, projectId, isGuardrail }: EvaluationRun): PermitRequest {
  return { tenant: { organizationId: organization.id, projectId }, isUrgent: isGuardrail };
}

/**
 * Runs an evaluator of the catalogue. A failure is an outcome. Rejects with `unavailable` when nothing was judged because
 * too many runs wait, the store cannot serve or the process stops: a guardrail must not pass then, whatever its rule for
 * errors says.
 */
export type RunEvaluator = (run: EvaluationRun, signal: AbortSignal) => Promise<EvaluationOutcome>;

/** Delays after the first three retryable failures; the fourth is the result. */
const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000];

/** `failures` is the number of earlier failures. Null: the outcome is final. */
export function retryDelayMs(outcome: EvaluationOutcome, failures: number): number | null {
  if (outcome.status !== 'error' || !outcome.isRetryable) return null;
  return RETRY_DELAYS_MS[failures] ?? null;
}

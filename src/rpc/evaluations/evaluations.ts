/** EvaluationService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type EvaluateRequest,
  type EvaluateResponseSchema,
  type EvaluationService,
  EvaluationSurface,
  type EvaluatorTypeInfoSchema,
  GuardrailOnError,
} from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { Analytics } from '../../domain/analytics/analytics.ts';
import {
  type EvaluationRequest,
  type EvaluatorName,
  requestProblems,
} from '../../domain/evaluations/evaluation-request.ts';
import type { Evaluated, Evaluations } from '../../domain/evaluations/evaluations.ts';
import { type EvaluatorTypeView, listEvaluatorTypes } from '../../domain/evaluations/evaluator-types.ts';
import type { Reason } from '../../domain/fault.ts';
import { nanoToUsdNumber } from '../../domain/pricing/money.ts';
import { tooManyNumberTexts } from '../../json/json-text.ts';
import { wordOf } from '../enums.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';
import { createMessageTexts } from '../traces/message-texts.ts';
import { EVALUATION_STATUSES } from '../traces/trace-message.ts';
import { createEvaluationAnalyticsRpc } from './evaluation-analytics.ts';
import { createEvaluatorRunRpc, type EvaluatorRunRpcDeps } from './evaluator-runs.ts';

type EvaluationRpcDeps = EvaluatorRunRpcDeps & {
  readonly evaluations: Evaluations;
  readonly analytics: Analytics;
  /** Whether a language model is configured. */
  readonly hasModel: boolean;
  /** The URL of the documentation. */
  readonly docsUrl: () => string;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
};

export function createEvaluationRpc(deps: EvaluationRpcDeps): Implementation<typeof EvaluationService> {
  const reader = createReader();
  return {
    evaluate: {
      check: (request) => [...nameProblems(request), ...requestProblems(reader.read(request))],
      handle: async (request, context) => {
        // A disconnect of the client does not cancel the run: its result may be stored on a trace.
        return toAnswer(await deps.evaluations.evaluate(projectOf(context), reader.take(request), deps.stopping));
      },
    },
    async listEvaluatorTypes() {
      const docsUrl = deps.docsUrl();
      const types = listEvaluatorTypes(deps.hasModel).map((view) => [view.entry.id, toInfo(view, docsUrl)]);
      return { evaluators: Object.fromEntries(types) };
    },
    ...createEvaluatorRunRpc(deps),
    ...createEvaluationAnalyticsRpc(deps.analytics),
  };
}

/** Keeps the request that was parsed last: `check` needs it, then `handle`, and its texts may be long. */
function createReader() {
  let last: { readonly request: EvaluateRequest; readonly parsed: EvaluationRequest } | null = null;
  const read = (request: EvaluateRequest): EvaluationRequest => {
    if (last?.request !== request) last = { request, parsed: toRequest(request) };
    return last.parsed;
  };
  return {
    read,
    /** Reads it for the last time. */
    take(request: EvaluateRequest): EvaluationRequest {
      const parsed = read(request);
      last = null;
      return parsed;
    },
  };
}

function toRequest(request: EvaluateRequest): EvaluationRequest {
  const texts = createMessageTexts(tooManyNumberTexts);
  return {
    evaluator: nameOf(request),
    data: texts.object(request.dataJson, 'data'),
    settings: texts.object(request.settingsJson, 'settings'),
    traceId: request.traceId ?? null,
    spanId: request.spanId ?? null,
    evaluationId: request.evaluationId ?? null,
    evaluatorId: request.evaluatorId ?? null,
    name: request.name ?? null,
    asGuardrail: request.surface === EvaluationSurface.GUARDRAILS || (request.asGuardrail ?? false),
    onError: wordOf(GuardrailOnError, request.onError),
    facts: texts.facts,
  };
}

function nameOf({ evaluator, namespace, entry, savedEvaluator }: EvaluateRequest): EvaluatorName {
  if (savedEvaluator !== '') return { kind: 'saved', text: savedEvaluator };
  if (namespace !== '' || entry !== '') return { kind: 'type', text: `${namespace}/${entry}` };
  return { kind: 'any', text: evaluator };
}

/** A REST path always names exactly one evaluator; a message may name none, or several. */
function nameProblems({ evaluator, namespace, entry, savedEvaluator }: EvaluateRequest): readonly Reason[] {
  const ways = [evaluator !== '', namespace !== '' && entry !== '', savedEvaluator !== ''];
  const isHalf = (namespace === '') !== (entry === '');
  if (ways.filter(Boolean).length === 1 && !isHalf) return [];
  const message = 'evaluator, or namespace and entry, or saved_evaluator must name the evaluator, and only one of them';
  return [{ field: 'evaluator', type: 'custom', message }];
}

function toAnswer({ outcome, passed, result }: Evaluated): MessageInitShape<typeof EvaluateResponseSchema> {
  return {
    status: EVALUATION_STATUSES[outcome.status],
    passed: passed ?? undefined,
    details: outcome.details ?? undefined,
    ...(outcome.status === 'processed' && { score: outcome.score ?? undefined, label: outcome.label ?? undefined }),
    ...(outcome.status === 'processed' &&
      outcome.costNanoUsd !== null && { cost: { currency: 'USD', amount: nanoToUsdNumber(outcome.costNanoUsd) } }),
    ...(outcome.status === 'error' && { errorType: outcome.errorType }),
    ...(result !== null && { evaluationId: result.evaluationId, stored: result.isStored }),
  };
}

function toInfo(view: EvaluatorTypeView, docsUrl: string): MessageInitShape<typeof EvaluatorTypeInfoSchema> {
  const { entry, results } = view;
  const describe = (description: string | undefined) => (description === undefined ? undefined : { description });
  return {
    name: entry.name,
    description: entry.description,
    category: entry.category,
    docsUrl,
    isGuardrail: entry.isGuardrail,
    requiredFields: [...entry.requiredFields],
    optionalFields: [...entry.optionalFields],
    settingsJson: JSON.stringify(view.settings),
    settingsJsonSchemaJson: JSON.stringify(view.settingsSchema),
    envVars: [...view.envVars],
    result: {
      score: describe(results.score),
      passed: describe(results.passed),
      label: describe(results.label),
    },
    available: view.unavailableReason === null,
    unavailableReason: view.unavailableReason ?? undefined,
  };
}

/** Asks the guardrails of a virtual key whether a request, or an answer, may pass. */

import type { Project } from '../domain/caller.ts';
import type { EvaluationRequest } from '../domain/evaluations/evaluation-request.ts';
import type { Evaluated } from '../domain/evaluations/evaluations.ts';
import { Fault } from '../domain/fault.ts';
import type { TypedInput } from '../domain/gateway/dialects/dialect.ts';
import { type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { SpanPlace } from '../domain/gateway/proxied-request.ts';
import { ANY_FACTS } from '../domain/traces/collector/collector-draft.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject } from '../json/lossless-json.ts';

type GuardrailDeps = {
  readonly evaluate: (project: Project, request: EvaluationRequest, signal: AbortSignal) => Promise<Evaluated>;
};

export type Guarding = {
  readonly stage: 'pre' | 'post';
  readonly project: Project;
  readonly place: SpanPlace;
  readonly evaluatorIds: readonly string[];
  /** Whether the key stores texts. */
  readonly captures: boolean;
  readonly input: TypedInput;
  /** Undefined before there is an answer; null: it is empty. */
  readonly output: TypedInput | null | undefined;
};

const TIMEOUT_MS = 5_000;
const BLOCKED = 403;

export type Guardrails = ReturnType<typeof createGuardrails>;

export function createGuardrails({ evaluate }: GuardrailDeps) {
  async function ask(guarding: Guarding, evaluatorId: string): Promise<string | null> {
    const { project, place, input, output, captures } = guarding;
    const request: EvaluationRequest = {
      evaluator: { kind: 'saved', text: evaluatorId },
      data: { input: textOf(input), ...(output !== undefined && { output: output === null ? '' : textOf(output) }) },
      settings: undefined,
      traceId: place.traceId,
      spanId: place.spanId,
      evaluationId: null,
      evaluatorId: null,
      name: null,
      asGuardrail: true,
      onError: 'block',
      withoutTexts: !captures,
      facts: ANY_FACTS,
    };
    try {
      const { passed, outcome } = await evaluate(project, request, AbortSignal.timeout(TIMEOUT_MS));
      if (passed === true) return null;
      return outcome.status === 'processed' ? 'did not pass it' : 'could not judge it';
    } catch (error) {
      // It is not known to pass: an evaluator that was removed, lacks a field or is busy lets nothing through.
      return error instanceof Fault ? `could not judge it (${error.code})` : 'could not judge it';
    }
  }

  return {
    /** All of them in parallel. Null: all let it pass. */
    async check(guarding: Guarding): Promise<GatewayFault | null> {
      const { stage, evaluatorIds } = guarding;
      const verdicts = await Promise.all(evaluatorIds.map((id) => ask(guarding, id)));
      const index = verdicts.findIndex((verdict) => verdict !== null);
      if (index < 0) return null;
      const what = stage === 'pre' ? 'request' : 'answer';
      const evaluatorId = evaluatorIds[index] ?? '';
      const message = `A guardrail blocked the ${what}: the evaluator ${evaluatorId} ${verdicts[index]}.`;
      return gatewayFault(BLOCKED, 'guardrail_blocked', message, { details: { stage, evaluator_id: evaluatorId } });
    },
  };
}

/** Members that no model reads as text. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...['role', 'type', 'id', 'tool_call_id', 'call_id', 'tool_use_id', 'status', 'media_type', 'cache_control'],
  ...['signature', 'encrypted_content', 'url', 'file_id', 'data', 'file_data', 'image_url', 'detail'],
]);

/** What a model gave a tool: an object of any members. */
const ARGUMENTS: ReadonlySet<string> = new Set(['arguments', 'input']);

/** Every text of messages, wherever it stands. */
function textOf({ value }: TypedInput): string {
  const texts: string[] = [];
  collect(value, texts);
  return texts.join('\n');
}

/** The depth is bounded by that of bodies. `isWhole`: a model reads every member as text. */
function collect(value: LosslessJson, texts: string[], isWhole = false): void {
  if (typeof value === 'string') texts.push(value);
  else if (isArray(value)) for (const item of value) collect(item, texts, isWhole);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const isRead = isWhole || !SKIPPED.has(name) || (name === 'data' && isTextSource(value));
      if (isRead) collect(member, texts, isWhole || ARGUMENTS.has(name));
    }
  }
}

/** A document whose data is its text. */
function isTextSource({ type, media_type: mediaType }: LosslessObject): boolean {
  return type === 'text' || (typeof mediaType === 'string' && mediaType.startsWith('text/') && type !== 'base64');
}

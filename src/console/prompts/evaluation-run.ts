/** Runs a prompt over the entries of a dataset: asks a model for each, judges its answer, and stores the result. */

import { type EvaluateResponse, EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { Evaluator } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { PromptService, type TryPromptResponse } from '../../../gen/spandrel/v1/prompts_pb.js';
import { EvaluationStatus } from '../../../gen/spandrel/v1/traces_pb.js';
import { readFailure } from '../design/failure.tsx';
import type { Ask } from '../overview/changes.ts';
import { type Entry, type Plan, valuesOf } from './evaluation-plan.ts';

type Work = {
  readonly ask: Ask;
  readonly plan: Plan;
  readonly experimentId: string;
  readonly runId: string;
  readonly entries: readonly Entry[];
  /** The indexes of the entries that have a result already. */
  readonly done: ReadonlySet<number>;
  readonly evaluators: readonly Evaluator[];
  readonly signal: AbortSignal;
  /** Called after each result. */
  readonly onResult: (index: number, cost: number) => void;
};

/** Entries that are worked on at the same time. */
const PARALLEL = 3;
/** What is wrong with one entry alone; anything else would be so for the next ones, too. */
const OF_ONE_ENTRY: ReadonlySet<string> = new Set([
  'provider_error',
  'provider_timeout',
  'guardrail_blocked',
  'upstream_mid_stream_failure',
]);

/** Resolves once all entries have a result, or the signal is aborted. Rejects with the first problem that all would have. */
export async function evaluateEntries(work: Work): Promise<void> {
  const { plan, entries, done, signal, ask, experimentId, runId } = work;
  const left = entries.slice(0, plan.entries).flatMap((_, index) => (done.has(index) ? [] : [index]));
  let isStopped = false;
  const goOn = async () => {
    for (;;) {
      const index = isStopped || signal.aborted ? undefined : left.shift();
      if (index === undefined) return;
      try {
        await evaluateEntry(work, index);
      } catch (error) {
        isStopped = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, goOn));
  if (!signal.aborted) await ask(ExperimentService.method.finishExperimentRun, { slugOrId: experimentId, runId });
}

async function evaluateEntry(work: Work, index: number): Promise<void> {
  const { ask, plan, experimentId, runId } = work;
  const entry = work.entries[index] ?? {};
  const variables = valuesOf(plan.mapping, entry);
  const { promptId, version, virtualKeyId } = plan;
  const variablesJson = JSON.stringify(variables);
  const tried = await ask(PromptService.method.tryPrompt, { id: promptId, version, virtualKeyId, variablesJson });
  if (tried.error && !OF_ONE_ENTRY.has(tried.error.code)) throw new Error(tried.error.message);
  const judged = await Promise.all(work.evaluators.map((each) => judge(ask, each, { tried, entry, variables })));
  const place = { index, targetId: promptId };
  await ask(ExperimentService.method.logExperimentResults, {
    experimentSlug: experimentId,
    runId,
    dataset: [
      {
        ...place,
        ...(tried.traceId !== undefined && { traceId: tried.traceId }),
        ...(tried.output !== undefined && { predictedJson: JSON.stringify({ output: tried.output }) }),
        ...(tried.cost !== undefined && { cost: tried.cost }),
        ...(tried.error && { error: `${tried.error.code}: ${tried.error.message}` }),
        duration: Number(tried.durationMs),
      },
    ],
    evaluations: judged.map((evaluation) => ({ ...place, ...evaluation })),
  });
  work.onResult(index, tried.cost ?? 0);
}

type Judged = {
  readonly tried: TryPromptResponse;
  readonly entry: Entry;
  readonly variables: { readonly [variable: string]: unknown };
};

/** An evaluator reads the answer as output, and all else from the columns of its names. */
async function judge(ask: Ask, evaluator: Evaluator, { tried, entry, variables }: Judged) {
  const name = (evaluator.name ?? evaluator.id).slice(0, NAME_CHARACTERS_MAX);
  const about = { name, evaluator: name };
  if (tried.output === undefined) return { ...about, status: EvaluationStatus.SKIPPED, details: 'There is no answer.' };
  const known: Entry = { input: JSON.stringify(variables), ...entry, output: tried.output };
  const fields = evaluator.fields.map(({ identifier }) => identifier).filter((each) => known[each] !== undefined);
  const dataJson = JSON.stringify(Object.fromEntries(fields.map((each) => [each, known[each]])));
  try {
    const trace = tried.traceId === undefined ? {} : { traceId: tried.traceId };
    const found = await ask(EvaluationService.method.evaluate, { savedEvaluator: evaluator.id, dataJson, ...trace });
    return { ...about, ...resultOf(found) };
  } catch (error) {
    return { ...about, status: EvaluationStatus.ERROR, details: readFailure(error).message };
  }
}

const NAME_CHARACTERS_MAX = 255;

function resultOf({ status, score, passed, label, details, cost }: EvaluateResponse) {
  return {
    status,
    ...(score !== undefined && { score }),
    ...(passed !== undefined && { passed }),
    ...(label !== undefined && { label }),
    ...(details !== undefined && { details }),
    ...(cost !== undefined && { cost: cost.amount }),
  };
}

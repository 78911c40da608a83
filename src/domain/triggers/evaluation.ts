/** Evaluates triggers on metrics that are due: asks analytics, steps the state, and stores both with what there is to tell. */

import type { Analytics } from '../analytics/analytics.ts';
import type { Project } from '../caller.ts';
import type { Clock, RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import type { KeyStore } from '../management/management-port.ts';
import { type Observation, stepMetric, windowAt } from './metric-state.ts';
import { observe, type Question, questionOf, seriesProblems } from './series.ts';
import type { MetricRule } from './trigger.ts';
import { type Evaluated, type LeasedTrigger, stateEvent, type TriggerStore } from './trigger-store.ts';

export type EvaluationDeps = {
  readonly triggers: Pick<TriggerStore, 'leaseDue' | 'record'>;
  readonly analytics: Pick<Analytics, 'query' | 'queryEvaluations'>;
  readonly keys: Pick<KeyStore, 'findProject'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Called after an evaluation was stored with a notification. */
  readonly onNotice: () => void;
  readonly onEvaluated: (outcome: 'value' | 'no_data' | 'refused') => void;
};

const LEASE_MS = 120_000;
/** Triggers of one project that share their answers. */
const AT_ONCE = 100;
const FENCE_BYTES = 6;

/** Evaluates some due triggers of one project. Returns how many there were. */
export function createEvaluation(deps: EvaluationDeps): (signal: AbortSignal) => Promise<number> {
  return async (signal) => {
    const nowMs = deps.clock();
    const fence = deps.random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES) + 1;
    const leased = await deps.triggers.leaseDue({ nowMs, untilMs: nowMs + LEASE_MS, fence, limit: AT_ONCE });
    const [first] = leased;
    if (first === undefined) return 0;
    const project = await deps.keys.findProject(first.trigger.projectId);
    const ask = createQuestions(deps, project, nowMs);
    const evaluated: Evaluated[] = [];
    // What is left of the batch after a stop is taken again when its leases end.
    for (const each of leased) {
      if (!signal.aborted && each.trigger.rule !== null)
        evaluated.push(await evaluate(deps, each, { ask, rule: each.trigger.rule, nowMs }));
    }
    const recorded = evaluated.length === 0 ? [] : await deps.triggers.record(evaluated);
    if (evaluated.some(({ event }, index) => event?.delivery === 'pending' && recorded[index] === 'recorded')) {
      deps.onNotice();
    }
    return leased.length;
  };
}

type Ask = (trigger: LeasedTrigger['trigger'], rule: MetricRule) => Promise<Observation>;

/** Equal questions about equal windows are asked once. */
function createQuestions({ analytics }: EvaluationDeps, project: Project | null, nowMs: number): Ask {
  const answers = new Map<string, ReturnType<typeof answer>>();
  async function answer(question: Question, call: { readonly project: Project; readonly nowMs: number }) {
    return question.of === 'traces'
      ? { of: question.of, ...(await analytics.query(question.request, call)) }
      : { of: question.of, ...(await analytics.queryEvaluations(question.request, call)) };
  }
  return async ({ filters }, rule) => {
    if (project === null) return { kind: 'refused', reason: 'The project is archived.' };
    // An earlier version may have stored what this one does not know.
    const [problem] = seriesProblems({ series: rule.series, filters });
    if (problem !== undefined) return { kind: 'refused', reason: problem.message };
    const question = questionOf({ series: rule.series, filters }, windowAt(rule, nowMs));
    const { metrics, ...rest } = question.request;
    const key = JSON.stringify([question.of, rest, [...metrics]]);
    const known = answers.get(key) ?? answer(question, { project, nowMs });
    answers.set(key, known);
    try {
      return observe(rule.series, rule.operator, await known);
    } catch (error) {
      if (error instanceof Fault) return { kind: 'refused', reason: error.message };
      throw error;
    }
  };
}

type Evaluating = { readonly ask: Ask; readonly rule: MetricRule; readonly nowMs: number };

async function evaluate(
  deps: EvaluationDeps,
  { trigger, state, fence }: LeasedTrigger,
  { ask, rule, nowMs }: Evaluating,
): Promise<Evaluated> {
  const { projectId, id: triggerId, updatedAtMs: triggerUpdatedAtMs } = trigger;
  const observation = await ask(trigger, rule);
  deps.onEvaluated(observation.kind);
  const { next, notice } = stepMetric(rule, state, { observation, nowMs });
  const notifies = notice !== null && notice.kind !== 'changed';
  const of = { projectId, triggerId, id: newId('alert', deps.random), kind: notice?.kind ?? 'changed' } as const;
  const event = notice === null ? null : stateEvent(of, next, { nowMs, notifies });
  return { projectId, triggerId, fence, triggerUpdatedAtMs, next, event, nowMs };
}

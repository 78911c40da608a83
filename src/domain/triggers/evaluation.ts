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
  readonly triggers: Pick<TriggerStore, 'leaseDue' | 'release' | 'record'>;
  readonly analytics: Pick<Analytics, 'query' | 'queryEvaluations'>;
  readonly keys: Pick<KeyStore, 'findProject'>;
  readonly clock: Clock;
  readonly monotonicMs: Clock;
  readonly random: RandomBytes;
  /** Called after an evaluation was stored with a notification. */
  readonly onNotice: () => void;
  readonly onEvaluated: (outcome: 'value' | 'no_data' | 'refused') => void;
};

const LEASE_MS = 120_000;
/** Triggers of one project that share their answers. */
const AT_ONCE = 100;
const PROJECTS_AT_ONCE = 3;
/** After this time a project begins no further evaluation in its turn. */
const TURN_MS = 2_000;
/** Projects whose turns are remembered. */
const SERVED_MAX = 1_000;
const FENCE_BYTES = 6;

type Step = (signal: AbortSignal) => Promise<number>;

/**
 * Steps to repeat beside each other. Each evaluates some due triggers of one project, in a turn that ends after a while, so
 * that a project with slow questions delays no other one, and returns how many there were.
 */
export function createEvaluation(deps: EvaluationDeps): readonly Step[] {
  const turns = createTurns(deps);
  return Array.from({ length: PROJECTS_AT_ONCE }, () => async (signal) => {
    const leased = await turns.begin();
    const [first] = leased;
    if (first === undefined) return 0;
    try {
      await takeTurn(deps, leased, signal);
    } finally {
      turns.end(first.trigger.projectId);
    }
    return leased.length;
  });
}

/** A project has one turn at a time, and no second one before all that are due have had theirs. */
function createTurns({ triggers, clock, random }: EvaluationDeps) {
  const busy = new Set<string>();
  let served = new Set<string>();
  let leasing: Promise<unknown> = Promise.resolve();

  async function leaseFrom(notOf: readonly string[]): Promise<readonly LeasedTrigger[]> {
    const nowMs = clock();
    const fence = random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES) + 1;
    return await triggers.leaseDue({ nowMs, untilMs: nowMs + LEASE_MS, fence, limit: AT_ONCE, notOf });
  }

  async function lease(): Promise<readonly LeasedTrigger[]> {
    const others = await leaseFrom([...new Set([...busy, ...served])]);
    const isRoundOver = served.size > 0 && (others.length === 0 || served.size >= SERVED_MAX);
    if (isRoundOver) served = new Set();
    const leased = isRoundOver && others.length === 0 ? await leaseFrom([...busy]) : others;
    for (const { trigger } of leased.slice(0, 1)) {
      busy.add(trigger.projectId);
      served.add(trigger.projectId);
    }
    return leased;
  }

  return {
    /** Empty: no further project is due. */
    begin(): Promise<readonly LeasedTrigger[]> {
      // One after the other: a project that has been leased is not leased again.
      const next = leasing.then(lease);
      leasing = next.catch(() => undefined);
      return next;
    },
    end: (projectId: string) => void busy.delete(projectId),
  };
}

/** `leased` are of one project. What it has no time for waits for its next turn. */
async function takeTurn(deps: EvaluationDeps, leased: readonly LeasedTrigger[], signal: AbortSignal): Promise<void> {
  const nowMs = deps.clock();
  const endsAtMs = deps.monotonicMs() + TURN_MS;
  const project = await deps.keys.findProject(leased[0]?.trigger.projectId ?? '');
  const ask = createQuestions(deps, project, nowMs);
  const evaluated: Evaluated[] = [];
  let end = 0;
  for (const each of leased) {
    if (signal.aborted || (end > 0 && deps.monotonicMs() >= endsAtMs)) break;
    end += 1;
    if (each.trigger.rule !== null) evaluated.push(await evaluate(deps, each, { ask, rule: each.trigger.rule, nowMs }));
  }
  const recorded = evaluated.length === 0 ? [] : await deps.triggers.record(evaluated);
  if (end < leased.length) await deps.triggers.release(leased.slice(end));
  if (evaluated.some(({ event }, index) => event?.delivery === 'pending' && recorded[index] === 'recorded')) {
    deps.onNotice();
  }
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

type Asking = { readonly ask: Ask; readonly rule: MetricRule; readonly nowMs: number };

async function evaluate(
  deps: EvaluationDeps,
  { trigger, state, fence }: LeasedTrigger,
  { ask, rule, nowMs }: Asking,
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

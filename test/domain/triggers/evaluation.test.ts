import { expect, it } from 'vitest';
import type { Project } from '../../../src/domain/caller.ts';
import { createEvaluation, type EvaluationDeps } from '../../../src/domain/triggers/evaluation.ts';
import { beginningState, type Trigger } from '../../../src/domain/triggers/trigger.ts';
import type { LeasedTrigger } from '../../../src/domain/triggers/trigger-store.ts';

const NOW_MS = 1_790_000_000_000;
const OF_SLOW = 10;

/** A trigger on a question of its own. */
function leased(projectId: string, index: number): LeasedTrigger {
  const series = { metric: 'traces', aggregation: 'sum', groupBy: 'none' };
  const rule = { series, operator: 'GT', warning: null, alert: 1, windowMinutes: 1, recoveryWindows: 1 } as const;
  const trigger: Trigger = {
    ...{
      id: `${projectId}_${index}`,
      projectId,
      name: 'Any',
      slug: `${index}`,
      kind: 'METRIC',
      active: true,
      query: '',
    },
    filters: [{ name: 'metadata.labels', key: null, values: [`${index}`] }],
    ...{ alertType: null, message: null, action: 'SEND_WEBHOOK', actionParams: {}, secret: null, cadence: 'IMMEDIATE' },
    rule: { ...rule, noData: 'KEEP', renotifyMinutes: null },
    ...{ createdAtMs: NOW_MS, updatedAtMs: NOW_MS },
  };
  return { trigger, state: beginningState(trigger, NOW_MS), fence: 1 };
}

it('a project with slow questions has one turn at a time, which ends, and delays no other project', async () => {
  let dueOfSlow = Array.from({ length: OF_SLOW }, (_, index) => leased('slow', index));
  let dueOfOthers = ['a', 'b', 'c', 'd'].map((projectId) => leased(projectId, 0));
  let monotonicMs = 0;
  let answerSlow: (() => void) | null = null;
  const recorded: string[] = [];
  const deps: EvaluationDeps = {
    triggers: {
      async leaseDue({ notOf }) {
        if (dueOfSlow.length > 0 && !notOf.includes('slow')) {
          const all = dueOfSlow;
          dueOfSlow = [];
          return all;
        }
        const [next] = dueOfOthers.filter(({ trigger }) => !notOf.includes(trigger.projectId));
        dueOfOthers = dueOfOthers.filter((each) => each !== next);
        return next === undefined ? [] : [next];
      },
      async release(some) {
        dueOfSlow.push(...some);
      },
      async record(evaluated) {
        recorded.push(...evaluated.map(({ projectId }) => projectId));
        return evaluated.map(() => 'recorded');
      },
    },
    analytics: {
      async query(_, { project }) {
        if (project.id === 'slow') {
          await new Promise<void>((resolve) => {
            answerSlow = resolve;
          });
          monotonicMs += 1_500;
        }
        return { buckets: [] } as never;
      },
      queryEvaluations: async () => ({}) as never,
    },
    keys: { findProject: async (id) => ({ id, number: 1 }) as Project & { number: number } as never },
    clock: () => NOW_MS,
    monotonicMs: () => monotonicMs,
    random: (size) => Buffer.alloc(size, 7),
    onNotice: () => {},
    onEvaluated: () => {},
  };
  const [one, other] = createEvaluation(deps);
  const { signal } = new AbortController();
  const slow = one?.(signal);
  await expect.poll(() => answerSlow).not.toBeNull();
  for (let turn = 0; turn < 4; turn += 1) expect(await other?.(signal)).toBe(1);
  expect(await other?.(signal)).toBe(0);
  expect(recorded).toEqual(['a', 'b', 'c', 'd']);
  // Two questions take three seconds; the others wait for the next turn.
  for (let question = 0; question < 2; question += 1) {
    const answer = answerSlow as (() => void) | null;
    answerSlow = null;
    answer?.();
    if (question === 0) await expect.poll(() => answerSlow).not.toBeNull();
  }
  await slow;
  expect(recorded.filter((projectId) => projectId === 'slow')).toHaveLength(2);
  expect(dueOfSlow).toHaveLength(OF_SLOW - 2);
});

import { expect } from 'vitest';
import { JOB_QUEUE_DEFAULTS } from '../../../src/domain/evaluations/jobs.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { TraceAppend } from '../../../src/domain/traces/trace.ts';
import { until } from '../../support/temp.ts';
import { RECEIVED_AT_MS, sampleAppend, sampleEvaluator, sampleMonitor, samplePlan, sampleSpan } from './samples.ts';

export const SMALL_BACKLOG = { ...JOB_QUEUE_DEFAULTS, waitingMax: 3 };

/** Expects an empty store opened with SMALL_BACKLOG. */
export async function expectBoundedBacklog(store: Store): Promise<void> {
  const plan = samplePlan();
  await store.installation.bootstrap(plan);
  const project = await store.keys.findProject(plan.project.id);
  if (project === null) throw new Error('the project is not there');
  const { id: projectId, number: projectNumber, organizationId, organizationNumber } = project;
  const evaluator = sampleEvaluator({ projectId });
  await store.evaluators.insert(evaluator, 10);
  for (const slug of ['a', 'b']) await store.monitors.insert(sampleMonitor(evaluator, { slug }), { liveMax: 100 });
  const create = (changes: Partial<ReturnType<typeof sampleAppend>> = {}) => {
    const ids = { projectId, projectNumber, organizationId, organizationNumber };
    return sampleAppend({ ...ids, requests: [], spans: [sampleSpan({ parentId: null })], ...changes });
  };
  const appends: TraceAppend[] = [];
  const counts = () => store.evaluationJobs.counts(10);
  // The store counts jobs after storing them, so it may refuse too many for a moment.
  await until(async () => {
    const append = create();
    appends.push(append);
    await store.traces.append(append);
    const { depth, refused } = await counts();
    expect(depth).toBeLessThanOrEqual(3);
    return depth === 3 && refused >= 2;
  });
  const { refused } = await counts();
  expect(refused).toBe(appends.length - 3);
  const ofProject = { projectNumber, nowMs: RECEIVED_AT_MS, countMax: 10 };
  expect(await store.evaluationJobs.countsOf(ofProject)).toMatchObject({ scheduled: 3, refused });
  const ofOther = { ...ofProject, projectNumber: projectNumber + 1 };
  expect(await store.evaluationJobs.countsOf(ofOther)).toMatchObject({ scheduled: 0, refused: 0 });
  // Waiting jobs are still postponed, and every trace is stored.
  const [first, last] = [appends[0], appends.at(-1)];
  if (first === undefined || last === undefined) throw new Error('too few traces');
  await store.traces.append(create({ traceId: first.traceId, receivedAtMs: RECEIVED_AT_MS + 100 }));
  const patched = { projectNumber, traceId: last.traceId, expiredBeforeMs: null };
  await store.traceChanges.patchMetadata(patched, { setJson: '{"a":1}', removed: [] }, RECEIVED_AT_MS);
  expect(await counts()).toMatchObject({ depth: 3, refused: refused + 1 });
  const shares = [{ projectNumber, limits: { monitors: 10, triggers: 10, calls: 10 } }];
  const claim = { shares, nowMs: RECEIVED_AT_MS + 3_600_000, leaseMs: 60_000, fence: 1 };
  const seen = new Set((await store.evaluationJobs.claim(claim)).map(({ traceId }) => traceId));
  expect([seen.size, seen.has(first.traceId), seen.has(last.traceId)]).toEqual([3, true, false]);
  for (const { traceId } of appends) expect(await store.traces.find(projectNumber, traceId)).not.toBeNull();
}

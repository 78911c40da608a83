import { expect } from 'vitest';
import { SETTLE } from '../../../src/domain/evaluations/jobs.ts';
import type { Store } from '../../../src/domain/store.ts';
import { RECEIVED_AT_MS, sampleAppend, sampleEvaluator, sampleMonitor, samplePlan, sampleSpan } from './samples.ts';

export const SMALL_BACKLOG = { ...SETTLE, waitingMax: 3 };

/** Of an empty store that was opened with SMALL_BACKLOG. */
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
    const place = { projectId, projectNumber, organizationId, organizationNumber };
    return sampleAppend({ ...place, requests: [], spans: [sampleSpan({ parentId: null })], ...changes });
  };
  const appends = Array.from({ length: 5 }, () => create());
  for (const append of appends) await store.traces.append(append);
  expect(await store.evaluationJobs.counts(10)).toMatchObject({ depth: 3, refused: 2 });
  // Those that wait are moved all the same, and all traces are there.
  const [first, , , last] = appends;
  if (first === undefined || last === undefined) throw new Error('too few traces');
  await store.traces.append(create({ traceId: first.traceId, receivedAtMs: RECEIVED_AT_MS + 100 }));
  const patched = { projectNumber, traceId: last.traceId, goneBeforeMs: null };
  await store.traceChanges.patchMetadata(patched, { setJson: '{"a":1}', removed: [] }, RECEIVED_AT_MS);
  expect(await store.evaluationJobs.counts(10)).toMatchObject({ depth: 3, refused: 3 });
  const shares = [{ projectNumber, limit: 10 }];
  const claim = { shares, nowMs: RECEIVED_AT_MS + 3_600_000, leaseMs: 60_000, fence: 1 };
  const seen = new Set((await store.evaluationJobs.claim(claim)).map(({ traceId }) => traceId));
  expect(seen).toEqual(new Set(appends.slice(0, 3).map(({ traceId }) => traceId)));
  for (const { traceId } of appends) expect(await store.traces.find(projectNumber, traceId)).not.toBeNull();
}

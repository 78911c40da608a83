import { afterEach, describe, expect, it } from 'vitest';
import { startRunWorker } from '../../src/background/search-run-worker.ts';
import type { Project } from '../../src/domain/caller.ts';
import type { EvaluatorRun, EvaluatorRunStore, LeasedRun } from '../../src/domain/evaluations/evaluator-run.ts';
import type { EvaluationOutcome } from '../../src/domain/evaluations/outcome.ts';
import type { Evaluator } from '../../src/domain/evaluators/evaluator.ts';
import { Fault } from '../../src/domain/fault.ts';
import type { RunProgress } from '../../src/domain/traces/search/search-run.ts';
import type { TraceView } from '../../src/domain/traces/traces.ts';
import { createRunPages } from '../../src/evaluation/run-pages.ts';
import type { Loop } from '../../src/scheduling/schedule.ts';

const BUSY: EvaluationOutcome = { status: 'error', errorType: 'LLM_TIMEOUT', details: 'busy', isRetryable: true };
const PASSED = { status: 'processed', score: 1, passed: true, label: null, details: null, costNanoUsd: null } as const;
const RENEW_MS = 20_000;

const PROJECT = { id: 'project_1', organizationId: 'organization_1', priceVersion: 0 } as Project;
const EVALUATOR = {
  id: 'evaluator_1',
  name: 'Same',
  type: 'evaluator',
  configJson: '{"evaluatorType":"langevals/exact_match","settings":{}}',
} as Evaluator;

let worker: Loop | null = null;
afterEach(async () => {
  await worker?.stop();
});

/** One run over one page of two traces, on a clock that moves on when the worker waits. */
async function work(outcomeOf: (traceId: string, attempt: number) => EvaluationOutcome, { searchesFailing = 0 } = {}) {
  let searchesLeft = searchesFailing;
  let nowMs = 0;
  let leasedUntilMs = 0;
  const run = { projectId: 'project_1', id: 'run_1', evaluatorId: EVALUATOR.id, searchJson: '{}', cursor: '' };
  const counts = { processed: 0, skipped: 0, failed: 0, tracesFound: null, isFoundExactly: true };
  const times = { createdAtMs: 0, updatedAtMs: 0, fence: 0, failures: 0 };
  let state: LeasedRun = { ...run, ...counts, ...times, status: 'running', error: null };
  const ended = Promise.withResolvers<void>();
  const stored = new Map<string, string>();
  const attempts: { readonly traceId: string; readonly atMs: number }[] = [];
  const store: EvaluatorRunStore = {
    insert: async () => 'stored',
    find: async () => null,
    list: async () => [],
    cancel: async () => {},
    async lease(lease) {
      if (state.status !== 'running' || leasedUntilMs > lease.nowMs) return null;
      leasedUntilMs = lease.untilMs;
      return state;
    },
    async advance(progress: RunProgress<EvaluatorRun>) {
      const { leasedUntilMs: until, ...next } = progress;
      leasedUntilMs = until;
      state = next;
      if (state.status !== 'running') ended.resolve();
      return true;
    },
  };
  const viewOf = (traceId: string) =>
    ({
      record: { traceId },
      evaluations: [...stored].flatMap(([id, text]) =>
        text.startsWith(traceId) ? [{ evaluationId: id, status: text.split(' ')[1] }] : [],
      ),
      ...{ input: '', output: traceId, expectedOutput: 'x', spans: [], nextSpansCursor: null },
      choice: { inputFromId: null, outputFromId: null },
    }) as unknown as TraceView;
  const workPage = createRunPages({
    evaluators: { find: async () => EVALUATOR },
    findProject: async () => PROJECT,
    searches: {
      async search() {
        searchesLeft -= 1;
        if (searchesLeft >= 0) throw new Fault('unavailable', 'The store is away.');
        return {
          views: [viewOf('a'), viewOf('b')],
          nextCursor: null,
          isPartial: false,
          total: { count: 2, isExact: true },
        };
      },
    },
    results: {
      async attach(_, traceId, { draft }) {
        stored.set(String(draft.evaluationId), `${traceId} ${draft.status}`);
      },
      toAppend: () => {
        throw new Error('nothing is appended');
      },
    },
    async run({ data }) {
      const traceId = String(data.output);
      attempts.push({ traceId, atMs: nowMs });
      return outcomeOf(traceId, attempts.filter((each) => each.traceId === traceId).length);
    },
    clock: () => nowMs,
    tracesAtOnce: 1,
  });
  worker = startRunWorker({
    ...{ name: 'runs of evaluators', store, workPage },
    clock: () => nowMs,
    random: (bytes) => Buffer.alloc(bytes, 1),
    wait: (delayMs, signal) =>
      new Promise((resolve) => {
        const go = () => resolve();
        signal.addEventListener('abort', go, { once: true });
        if (delayMs === RENEW_MS) return;
        setImmediate(() => {
          nowMs += delayMs;
          go();
        });
      }),
    log: { warn: () => {} },
  });
  await ended.promise;
  return { run: state, stored: [...stored.values()].toSorted(), attempts };
}

describe('a run over traces', () => {
  it('tries again what may pass later, and what was stored before not again', async () => {
    const { run, stored, attempts } = await work((traceId, attempt) =>
      traceId === 'b' && attempt < 3 ? BUSY : PASSED,
    );
    expect(run).toMatchObject({ status: 'completed', processed: 2, failed: 0, failures: 0 });
    expect(stored).toEqual(['a processed', 'b processed']);
    expect(attempts.map(({ traceId }) => traceId)).toEqual(['a', 'b', 'b', 'b']);
    const [first = 0, second = 0, third = 0] = attempts.slice(1).map(({ atMs }) => atMs);
    expect(second - first).toBeGreaterThanOrEqual(5_000);
    expect(third - second).toBeGreaterThanOrEqual(30_000);
  });

  it('stores what failed four times, and continues', async () => {
    const { run, stored, attempts } = await work((traceId) => (traceId === 'a' ? BUSY : PASSED));
    expect(run).toMatchObject({ status: 'completed', processed: 1, failed: 1 });
    expect(stored).toEqual(['a error', 'b processed']);
    expect(attempts.map(({ traceId }) => traceId)).toEqual(['a', 'a', 'a', 'a', 'b']);
  });

  it('tries each trace equally often, regardless of earlier failures', async () => {
    const { run, attempts } = await work((traceId, attempt) => (traceId === 'a' || attempt < 3 ? BUSY : PASSED));
    expect(run).toMatchObject({ status: 'completed', processed: 1, failed: 1 });
    expect(attempts.map(({ traceId }) => traceId)).toEqual(['a', 'a', 'a', 'a', 'b', 'b', 'b']);
  });

  it('tries a trace as often as usual after the store was unavailable', async () => {
    const { attempts } = await work((traceId) => (traceId === 'a' ? BUSY : PASSED), { searchesFailing: 5 });
    expect(attempts.map(({ traceId }) => traceId)).toEqual(['a', 'a', 'a', 'a', 'b']);
  });

  it('waits as long as nothing can be judged, which is not a failure of a trace', async () => {
    const { run, stored, attempts } = await work((_, attempt) => {
      if (attempt < 8) throw new Fault('unavailable', 'Too much is being evaluated.');
      return attempt < 10 ? BUSY : PASSED;
    });
    expect(run).toMatchObject({ status: 'completed', processed: 2, failed: 0, failures: 0 });
    expect(stored).toEqual(['a processed', 'b processed']);
    expect(attempts).toHaveLength(20);
  });

  it('stores at once what would fail again', async () => {
    const { run, attempts } = await work(() => ({ ...BUSY, isRetryable: false }));
    expect(run).toMatchObject({ status: 'completed', failed: 2 });
    expect(attempts).toHaveLength(2);
  });
});

import { describe, expect, it } from 'vitest';
import type { ClaimedJob } from '../../../src/domain/evaluations/jobs.ts';
import { createTraceResults } from '../../../src/domain/evaluations/trace-results.ts';
import type { Evaluator } from '../../../src/domain/evaluators/evaluator.ts';
import { unavailableFault } from '../../../src/domain/fault.ts';
import type { Monitor } from '../../../src/domain/monitors/monitor.ts';
import { createMonitorRun } from '../../../src/domain/monitors/monitor-run.ts';
import { runWithoutPauses } from '../../../src/domain/steps.ts';
import type { TraceRecord } from '../../../src/domain/traces/trace.ts';
import { LIMITS, PROJECT } from '../traces/collector/collecting.ts';

const NOW_MS = 1_700_000_000_000;

const monitor = {
  id: 'monitor_1',
  projectId: PROJECT.id,
  evaluatorId: 'evaluator_1',
  checkType: 'langevals/dropped',
  enabled: true,
  executionMode: 'ON_MESSAGE',
  preconditions: [],
  mappings: {},
  parametersJson: '{}',
} as unknown as Monitor;

function evaluatorOf(evaluatorType: string): Evaluator {
  const configJson = JSON.stringify({ evaluatorType, settings: {} });
  return {
    id: 'evaluator_1',
    projectId: PROJECT.id,
    name: 'Old',
    type: 'evaluator',
    configJson,
  } as unknown as Evaluator;
}

const record = { traceId: 't1', sequence: 7, insertedAtMs: NOW_MS, metadataJson: '{}' } as unknown as TraceRecord;
const job: ClaimedJob = {
  projectNumber: PROJECT.number,
  traceSequence: 7,
  asOf: 0,
  sourceId: monitor.id,
  traceId: 't1',
  fence: 1,
  failures: 0,
  sinceMs: NOW_MS,
};

function runOf(evaluator: Evaluator, find: () => Promise<TraceRecord> = async () => record) {
  const none = async () => [];
  return createMonitorRun({
    monitors: { findInProject: async () => monitor },
    evaluators: { find: async () => evaluator },
    keys: { findProject: async () => PROJECT },
    traces: {
      find,
      outline: () => Promise.reject(new Error('nothing to read')),
      spans: none,
      spanIdsOfType: none,
      evaluations: none,
    } as never,
    results: createTraceResults({
      store: { append: () => Promise.reject(new Error('not here')) } as never,
      runCooperatively: async (steps) => runWithoutPauses(steps),
      limits: LIMITS,
      traceDefaultDays: null,
      retentionNowMs: () => NOW_MS,
    }),
    run: () => Promise.reject(new Error('an evaluator that cannot run was run')),
    runCooperatively: async (steps) => runWithoutPauses(steps),
    clock: () => NOW_MS,
    traceDefaultDays: null,
    retentionNowMs: () => NOW_MS,
  });
}

describe('the run of a monitor', () => {
  it.each([
    ['langevals/dropped', 'Evaluators of type evaluator cannot be run by this server'],
    ['openai/moderation', 'openai/moderation is not available: needs a cloud service'],
  ])('ends with a failed result where this version does not run %s', async (type, message) => {
    const outcome = await runOf(evaluatorOf(type))(job, new AbortController().signal);
    if (outcome.kind !== 'store') throw new Error(`the job was not ended: ${outcome.kind}`);
    const [evaluation] = outcome.append.evaluations;
    expect(evaluation).toMatchObject({
      evaluatorId: 'evaluator_1',
      name: 'Old',
      status: 'error',
      monitorId: monitor.id,
    });
    expect(evaluation?.errorJson).toContain(message);
  });

  it('waits for a store that cannot be read, which is not a failure of the job', async () => {
    const away = () => Promise.reject(unavailableFault('The store does not answer.', 1));
    const outcome = await runOf(evaluatorOf('langevals/exact_match'), away)(job, new AbortController().signal);
    expect(outcome).toEqual({ kind: 'wait', dueAtMs: NOW_MS + 5000 });
  });
});

import { describe, expect, it } from 'vitest';
import type { ClaimedJob } from '../../../src/domain/evaluations/jobs.ts';
import { unavailableFault } from '../../../src/domain/fault.ts';
import { type TraceRunDeps, withTriggers } from '../../../src/domain/triggers/trace-run.ts';

const NOW_MS = 1_790_000_000_000;
const TRIGGERS = 300;

/** A project with triggers that match every trace; reading the trace `bad` fails. */
function start({ error = new Error('unreadable') as Error } = {}) {
  const fired: { readonly traceId: string; readonly triggerId: string }[] = [];
  const sizes: number[] = [];
  const untested: string[] = [];
  const trigger = { filters: [{ name: 'traces.error', key: null, values: ['true'] }], query: '' };
  const triggers = Array.from({ length: TRIGGERS }, (_, index) => ({
    ...trigger,
    ...{ id: `trigger_${index}`, cadence: 'IMMEDIATE', action: 'SEND_WEBHOOK', runsSince: 1 },
  }));
  const deps = {
    triggers: {
      runningOn: async () => ({ projectId: 'project_1', asOf: 1, triggers }),
      fire: async ({ firings }) => {
        sizes.push(firings.length);
        fired.push(...firings);
        return firings.length;
      },
    },
    search: {
      match: async ({ traceIds }) => {
        if (traceIds.includes('bad')) throw error;
        return { traces: traceIds.map((traceId) => ({ traceId, updatedAtMs: NOW_MS, fits: [0] })), left: [] };
      },
    },
    keys: { findProject: async () => ({ id: 'project_1', number: 1, traceRetentionDays: null }) as never },
    traceDefaultDays: null,
    retentionNowMs: () => NOW_MS,
    clock: () => NOW_MS,
    random: (size) => Buffer.alloc(size, fired.length % 256),
    pause: async () => {},
    onFired: () => {},
    onUntested: () => untested.push('one'),
    log: { warn: () => {}, error: ({ trace }: { trace?: string }) => untested.push(trace ?? '') },
  } as TraceRunDeps;
  const run = withTriggers(deps, async () => {
    throw new Error('no other job');
  });
  const test = (traceId: string, failures = 0) => {
    const job: ClaimedJob = {
      ...{ projectNumber: 1, traceSequence: 1, sourceId: 'monitors', traceId },
      ...{ fence: 1, failures, sinceMs: NOW_MS, asOf: 1 },
    };
    return run(job, new AbortController().signal);
  };
  return { test, fired, sizes, untested };
}

describe('testing triggers on traces', () => {
  it('a trace that cannot be tested costs no other one, and is given up visibly after many attempts', async () => {
    const { test, fired, untested } = start();
    const [good, bad] = await Promise.all([test('good'), test('bad')]);
    expect([good.kind, bad.kind]).toEqual(['retry', 'retry']);
    expect(await Promise.all([test('good', 1), test('bad', 1)])).toEqual([
      { kind: 'drop' },
      { kind: 'retry', dueAtMs: NOW_MS + 15_000 },
    ]);
    expect(fired).toHaveLength(TRIGGERS);
    expect(untested).toEqual([]);
    expect(await test('bad', 9)).toEqual({ kind: 'drop' });
    expect(untested).toEqual(['one', 'bad']);
  });

  it('a store without room is not a failure of the trace', async () => {
    const { test } = start({ error: unavailableFault('Full.', 1) });
    expect(await test('bad', 8)).toEqual({ kind: 'wait', dueAtMs: NOW_MS + 5_000 });
  });

  it('what a batch fires for is stored in parts', async () => {
    const { test, sizes, fired } = start();
    await Promise.all([test('one'), test('two')]);
    expect(fired).toHaveLength(2 * TRIGGERS);
    expect(sizes).toEqual([200, 200, 200]);
  });
});

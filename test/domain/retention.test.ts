import { describe, expect, it } from 'vitest';
import type { LogCuts } from '../../src/domain/events/log-port.ts';
import type { ManagementCuts } from '../../src/domain/management/management-port.ts';
import { createRetention, type RetentionReport } from '../../src/domain/retention.ts';
import { termStartMs, traceTermDays } from '../../src/domain/retention-terms.ts';
import type { RetentionStep, RetentionTask } from '../../src/domain/retention-walk.ts';
import type { TelemetryCuts, TraceCut } from '../../src/domain/traces/telemetry-port.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NOTHING = { events: 0, traces: 0, logRecords: 0, auditEntries: 0, months: 0 };

type Options = {
  readonly nowMs?: number;
  readonly terms?: readonly (number | null)[];
  readonly traceDefaultDays?: number | null;
  readonly auditDays?: number | null;
  /** The results of the steps; the last one repeats. */
  readonly steps?: readonly Partial<RetentionStep>[];
  readonly stopAfterPauses?: number;
  /** How many traces are past their term when the run begins. */
  readonly backlog?: number;
};

/** Runs retention over a store with the given answers, and records all calls of the store. */
async function run(options: Options) {
  const {
    nowMs = NOW_MS,
    terms = [],
    traceDefaultDays = null,
    auditDays = null,
    steps = [{}],
    stopAfterPauses = 1000,
    backlog = 0,
  } = options;
  const stopping = new AbortController();
  const calls = {
    cuts: {} as Partial<LogCuts & TelemetryCuts & ManagementCuts>,
    counted: [] as (readonly TraceCut[])[],
    rows: [] as number[],
    pauses: [] as number[],
  };
  const task: RetentionTask = async (rowsMax) => {
    const answer = steps[Math.min(calls.rows.length, steps.length - 1)];
    calls.rows.push(rowsMax);
    const { outcome = 'done', removed = NOTHING, heldMs = 0, removingMs = 0 } = answer ?? {};
    const isLeft = outcome === 'locked' || outcome === 'busy';
    return { heldMs, removingMs, end: isLeft ? outcome : { removed, next: outcome === 'more' ? [task] : [] } };
  };
  const begin = (tasks: readonly RetentionTask[]) => (cuts: typeof calls.cuts) => {
    calls.cuts = { ...calls.cuts, ...cuts };
    return tasks;
  };
  const store = {
    logRetention: { begin: begin([task]) },
    telemetryRetention: {
      begin: begin([]),
      async backlog(cuts: readonly TraceCut[]) {
        calls.counted.push(cuts);
        return backlog;
      },
    },
    managementRetention: { begin: begin([]), traceTerms: async () => terms },
  };
  const retention = createRetention({
    store,
    clock: { check: async () => {}, nowMs: () => nowMs },
    traceDefaultDays,
    auditDays,
    pause: async (delayMs) => {
      calls.pauses.push(delayMs);
      if (calls.pauses.length === stopAfterPauses) stopping.abort();
    },
  });
  const report: RetentionReport = await retention.run(stopping.signal);
  return { ...calls, report };
}

describe('the term of traces', () => {
  it.each([
    ['never chosen, no default', null, null, null],
    ['never chosen, a default', null, 30, 30],
    ['chosen', 7, 30, 7],
    ['chosen for ever', 0, 30, null],
  ])('%s', (_case, stored, fallback, term) => {
    expect(traceTermDays(stored, fallback)).toBe(term);
  });

  it('ends so many days after a trace came in, to the millisecond', () => {
    expect(termStartMs(30, NOW_MS)).toBe(NOW_MS - 30 * DAY_MS);
    expect(termStartMs(null, NOW_MS)).toBeNull();
  });
});

describe('what a run may remove', () => {
  it('events before the month thirteen months ago, and not while a reader may still see them', async () => {
    const cutAt = async (nowMs: number) => (await run({ nowMs })).cuts.eventsBeforeMs;
    expect(await cutAt(NOW_MS)).toBe(Date.UTC(2025, 9, 1));
    expect(await cutAt(Date.UTC(2026, 11, 1) + MINUTE_MS)).toBe(Date.UTC(2025, 9, 1));
    expect(await cutAt(Date.UTC(2026, 11, 1) + 11 * MINUTE_MS)).toBe(Date.UTC(2025, 10, 1));
  });

  it('traces by the term of their project, a little later than they are out of sight', async () => {
    const atMs = NOW_MS - 10 * MINUTE_MS;
    const cut = (storedDays: number | null, days: number) => ({ storedDays, expiredBeforeMs: atMs - days * DAY_MS });
    expect((await run({ terms: [7, 0, null, 30], traceDefaultDays: 90 })).cuts.traces).toEqual([
      cut(7, 7),
      cut(null, 90),
      cut(30, 30),
    ]);
    expect((await run({ terms: [null, 0] })).cuts.traces).toEqual([]);
  });

  it('entries of the audit log by their term, a little later than they are out of sight', async () => {
    expect((await run({ auditDays: 30 })).cuts.auditBeforeMs).toBe(NOW_MS - 10 * MINUTE_MS - 30 * DAY_MS);
    expect((await run({})).cuts.auditBeforeMs).toBeNull();
  });
});

describe('the ports', () => {
  /** Runs one task of each port; a task finds its rows locked as often as its port says, and names itself. */
  async function runPorts(locked: { readonly [port: string]: number }) {
    const names: string[] = [];
    const taskOf = (port: string): RetentionTask => {
      let lockedLeft = locked[port] ?? 0;
      return async () => {
        names.push(port);
        const isLocked = lockedLeft > 0;
        lockedLeft -= 1;
        return { heldMs: 0, removingMs: 0, end: isLocked ? 'locked' : { removed: { events: 1 }, next: [] } };
      };
    };
    const begin = (port: string) => () => [taskOf(`${port} 1`), taskOf(`${port} 2`)];
    const pauses: number[] = [];
    const { run: start } = createRetention({
      store: {
        logRetention: { begin: begin('log') },
        telemetryRetention: { begin: begin('telemetry'), backlog: async () => 0 },
        managementRetention: { begin: begin('management'), traceTerms: async () => [] },
      },
      clock: { check: async () => {}, nowMs: () => NOW_MS },
      traceDefaultDays: null,
      auditDays: null,
      pause: async (delayMs) => void pauses.push(delayMs),
    });
    const { outcome, removed } = await start(new AbortController().signal);
    return { names, waits: pauses.filter((delayMs) => delayMs === 5_000).length, outcome, events: removed.events };
  }

  const ALL = ['log 1', 'log 2', 'telemetry 1', 'telemetry 2', 'management 1', 'management 2'];

  it('have their turns in the order in which their records refer to each other', async () => {
    expect(await runPorts({})).toEqual({ names: ALL, waits: 0, outcome: 'done', events: 6 });
  });

  it('are all served before what others hold is tried again', async () => {
    const { names, waits, events } = await runPorts({ 'log 1': 1, 'telemetry 2': 1 });
    expect(names).toEqual([...ALL, 'log 1', 'telemetry 2']);
    expect([waits, events]).toEqual([2, 6]);
  });

  it('leave what others still hold at the tenth try to the next run', async () => {
    const { names, waits, outcome, events } = await runPorts({ 'log 2': 1_000, 'management 1': 1_000 });
    expect(names.filter((name) => name === 'log 2')).toHaveLength(10);
    expect(names.slice(6)).toEqual(Array.from({ length: 9 }, () => ['log 2', 'management 1']).flat());
    expect({ waits, outcome, events }).toEqual({ waits: 18, outcome: 'done', events: 4 });
  });
});

describe('the steps of a run', () => {
  it('adds up what they removed until nothing is left', async () => {
    const { report } = await run({
      steps: [
        { outcome: 'more', removed: { ...NOTHING, events: 5 } },
        { outcome: 'more', removed: { ...NOTHING, traces: 2, months: 1 } },
        { removed: { events: 1, traces: 0, logRecords: 4, auditEntries: 3, months: 1 } },
      ],
    });
    expect(report).toEqual({
      outcome: 'done',
      removed: { events: 6, traces: 2, logRecords: 4, auditEntries: 3, months: 2 },
    });
  });

  it('grow while they are quick, never beyond 2,000 rows', async () => {
    const { rows } = await run({ steps: [{ outcome: 'more', heldMs: 60, removingMs: 3 }], stopAfterPauses: 100 });
    expect(rows.slice(0, 3)).toEqual([100, 120, 144]);
    expect(Math.max(...rows)).toBe(2_000);
  });

  it('shrink at once when they take too long, and stay as they are in between', async () => {
    const quick = { outcome: 'more', removingMs: 3 } as const;
    const slow = { outcome: 'more', removingMs: 100 } as const;
    const fine = { outcome: 'more', removingMs: 70 } as const;
    const { rows } = await run({ steps: [quick, quick, quick, fine, slow, slow], stopAfterPauses: 20 });
    expect(rows.slice(0, 6)).toEqual([100, 120, 144, 173, 173, 103]);
    expect(Math.min(...rows)).toBe(100);
  });

  it('leave others more time than they take', async () => {
    const heldMs = [0, 4, 30, 200];
    const { pauses } = await run({
      steps: [...heldMs.map((each) => ({ outcome: 'more', heldMs: each }) as const), {}],
    });
    expect(pauses).toEqual([10, 10, 60, 400]);
  });

  it('take a larger share of the time the more traces await the run', async () => {
    const step = { outcome: 'more', heldMs: 40, removed: { ...NOTHING, traces: 1_000 } } as const;
    const pausesWith = async (backlog: number) => (await run({ backlog, steps: [step], stopAfterPauses: 3 })).pauses;
    expect(await pausesWith(0)).toEqual([80, 80, 80]);
    expect(await pausesWith(10_000)).toEqual([40, 40, 40]);
    expect(await pausesWith(30_000)).toEqual([20, 20, 20]);
    expect(await pausesWith(10_000_000)).toEqual([10, 10, 10]);
  });

  it('count the traces that wait by the cuts of the run', async () => {
    const { cuts, counted } = await run({ terms: [7, null], traceDefaultDays: 90 });
    expect(counted).toEqual([cuts.traces]);
  });

  it('come back later for what others hold', async () => {
    const { pauses, rows, report } = await run({ steps: [{ outcome: 'locked', heldMs: 50 }, {}] });
    expect(pauses).toEqual([5_000]);
    expect(rows).toEqual([100, 100]);
    expect(report.outcome).toBe('done');
  });

  it('leave the work to another process that is at it', async () => {
    const { report, rows } = await run({ steps: [{ outcome: 'more' }, { outcome: 'busy' }] });
    expect(report.outcome).toBe('busy');
    expect(rows).toHaveLength(2);
  });

  it('end at once when the server stops', async () => {
    const { report, rows } = await run({ steps: [{ outcome: 'more' }], stopAfterPauses: 3 });
    expect(report.outcome).toBe('stopped');
    expect(rows).toHaveLength(3);
  });
});

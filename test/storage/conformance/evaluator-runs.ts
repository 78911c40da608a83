import { describe, expect, it } from 'vitest';
import type { EvaluatorRun } from '../../../src/domain/evaluations/evaluator-run.ts';
import { type OpenManagement, withStore } from './subject.ts';

const LIMITS = { runningMax: 3, startedMax: 100, startedSinceMs: 0, endedBeforeMs: 0 };

let made = 0;
function sampleRun(over: Partial<EvaluatorRun> = {}): EvaluatorRun {
  made += 1;
  return {
    projectId: 'project_1',
    id: `run_${made}`,
    evaluatorId: 'evaluator_1',
    searchJson: '{"query":"é"}',
    status: 'running',
    cursor: '',
    tracesFound: null,
    isFoundExactly: true,
    processed: 0,
    skipped: 0,
    failed: 0,
    error: null,
    createdAtMs: 1000,
    updatedAtMs: 1000,
    ...over,
  };
}

export function evaluatorRunConformance(open: OpenManagement): void {
  describe('runs of evaluators over traces', () => {
    it(
      'are found whole, the newest first, and never those of another project',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        const older = sampleRun();
        const newer = sampleRun({ createdAtMs: 2000, tracesFound: 7, isFoundExactly: false, error: 'why', failed: 2 });
        for (const run of [older, newer]) expect(await runs.insert(run, LIMITS)).toBe('stored');
        expect(await runs.find(newer.projectId, newer.id)).toEqual(newer);
        expect(await runs.find('project_2', newer.id)).toBeNull();
        expect(await runs.list('project_1', 10)).toEqual([newer, older]);
        expect(await runs.list('project_1', 1)).toEqual([newer]);
        expect(await runs.list('project_2', 10)).toEqual([]);
      }),
    );

    it(
      'MUST return limit_reached and store nothing when runningMax runs of the project are under way; old ones that ended go',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        const old = sampleRun({ status: 'completed', createdAtMs: 10 });
        await runs.insert(old, LIMITS);
        const one = sampleRun();
        const limits = { ...LIMITS, runningMax: 1, endedBeforeMs: 500 };
        expect(await runs.insert(one, limits)).toBe('stored');
        expect(await runs.find('project_1', old.id)).toBeNull();
        const other = sampleRun();
        expect(await runs.insert(other, limits)).toBe('limit_reached');
        expect(await runs.find('project_1', other.id)).toBeNull();
        expect(await runs.insert(sampleRun({ projectId: 'project_2' }), limits)).toBe('stored');
        await runs.cancel(one, 2000);
        expect(await runs.insert(other, limits)).toBe('stored');
      }),
    );

    it(
      'MUST return too_many_started and store nothing when startedMax runs of the project were started lately',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        const limits = { ...LIMITS, startedMax: 2, startedSinceMs: 500 };
        for (const createdAtMs of [499, 500, 501]) {
          const run = sampleRun({ status: 'completed', createdAtMs });
          expect(await runs.insert(run, limits)).toBe('stored');
        }
        const more = sampleRun({ createdAtMs: 502 });
        expect(await runs.insert(more, limits)).toBe('too_many_started');
        expect(await runs.find('project_1', more.id)).toBeNull();
        expect(await runs.insert(sampleRun({ projectId: 'project_2', createdAtMs: 502 }), limits)).toBe('stored');
        expect(await runs.insert(more, { ...limits, startedSinceMs: 501 })).toBe('stored');
      }),
    );

    it(
      'MUST give a run to one caller only until its lease is over',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        const run = sampleRun();
        await runs.insert(run, LIMITS);
        const lease = (nowMs: number, fence: number) => runs.lease({ nowMs, untilMs: nowMs + 100, fence });
        expect(await lease(1000, 11)).toEqual({ ...run, fence: 11, failures: 0 });
        expect(await lease(1099, 12)).toBeNull();
        expect(await lease(1100, 13)).toMatchObject({ id: run.id, fence: 13 });
      }),
    );

    it(
      'MUST let projects take turns, whatever number of runs each has',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        for (let index = 0; index < 3; index += 1) await runs.insert(sampleRun({ id: `many_${index}` }), LIMITS);
        await runs.insert(sampleRun({ projectId: 'project_2', id: 'few_0' }), LIMITS);
        const served: string[] = [];
        for (let turn = 1; turn <= 6; turn += 1) {
          const nowMs = 1000 * turn;
          const run = await runs.lease({ nowMs, untilMs: nowMs + 100, fence: turn });
          if (run === null) throw new Error('there was no run');
          served.push(run.projectId);
          // Runs of the first project end after one page, so it never has a resumed run.
          const status = run.projectId === 'project_1' ? 'completed' : 'running';
          await runs.advance({ ...run, status, leasedUntilMs: nowMs + 1 });
        }
        const [one, two] = ['project_1', 'project_2'];
        expect(served.slice(1)).toEqual(served[0] === one ? [two, one, two, one, two] : [one, two, one, two, one]);
      }),
    );

    it(
      'MUST return false and store nothing when the run has ended, or somebody else has it now',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        const run = sampleRun();
        await runs.insert(run, LIMITS);
        const first = await runs.lease({ nowMs: 1000, untilMs: 1100, fence: 21 });
        const second = await runs.lease({ nowMs: 1200, untilMs: 1300, fence: 22 });
        if (first === null || second === null) throw new Error('the run was not leased');
        expect(await runs.advance({ ...first, cursor: 'lost', leasedUntilMs: 1400 })).toBe(false);
        const progress = { ...second, cursor: 'next', processed: 3, tracesFound: 9, failures: 1, updatedAtMs: 1250 };
        expect(await runs.advance({ ...progress, leasedUntilMs: 1250 })).toBe(true);
        const { fence: _, failures: __, ...shown } = progress;
        expect(await runs.find(run.projectId, run.id)).toEqual(shown);
        expect(await runs.lease({ nowMs: 1260, untilMs: 1300, fence: 23 })).toMatchObject({
          cursor: 'next',
          failures: 1,
        });
        await runs.cancel(run, 1270);
        expect(await runs.advance({ ...progress, fence: 23, leasedUntilMs: 1300 })).toBe(false);
        expect(await runs.find(run.projectId, run.id)).toEqual({ ...shown, status: 'cancelled', updatedAtMs: 1270 });
        expect(await runs.lease({ nowMs: 9000, untilMs: 9100, fence: 24 })).toBeNull();
      }),
    );

    it(
      'MUST leave alone one that has ended when it is cancelled',
      withStore(open, async ({ evaluatorRuns: runs }) => {
        const run = sampleRun({ status: 'completed' });
        await runs.insert(run, LIMITS);
        await runs.cancel(run, 5000);
        expect(await runs.find(run.projectId, run.id)).toEqual(run);
      }),
    );
  });
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  ExperimentResult,
  ExperimentRun,
  ResultEvaluation,
  ResultReport,
} from '../../../src/domain/experiments/experiment.ts';
import { applyReport } from '../../../src/domain/experiments/run-report.ts';

const RUN: ExperimentRun = {
  ...{ projectId: 'p', experimentId: 'e', id: 'r', key: 'k', name: 'Run', datasetId: null, datasetVersion: null },
  ...{ targetsJson: '[]', evaluatorsJson: '[]', total: null, progress: null, resultCount: 0, totalBytes: 0 },
  ...{ createdAtMs: 0, updatedAtMs: 0, finishedAtMs: null },
};
const MANY = Number.MAX_SAFE_INTEGER;
const LIMITS = {
  ...{ resultsMax: MANY, totalMaxBytes: MANY, resultMaxBytes: MANY, evaluationsMax: MANY, evaluatorsMax: MANY },
  ...{ targetsMax: MANY, targetsMaxBytes: MANY },
};

function evaluationOf(name: string, score: number | null = null): ResultEvaluation {
  const nothing = { passed: null, label: null, details: null, costUsd: null, durationMs: null, traceId: null };
  return { name, evaluator: name, status: 'processed', score, inputsJson: null, ...nothing };
}

function reported(changes: Partial<ResultReport> = {}): ResultReport {
  const nothing = { entryId: null, traceId: null, entryJson: null, predictedJson: null, costUsd: null, error: null };
  return { field: 'f', entryIndex: 0, targetId: '', durationMs: null, evaluations: [], ...nothing, ...changes };
}

function apply(run: ExperimentRun, known: readonly ExperimentResult[], results: readonly ResultReport[]) {
  const report = { targets: [], total: null, progress: null, finishedAtMs: null, results, nowMs: 1 };
  return applyReport(run, known, { report, limits: LIMITS });
}

/** The bytes of a result, written independently. */
function bytesOf({ entryId, traceId, entryJson, predictedJson, error, evaluations }: ExperimentResult): number {
  const texts = [entryId, traceId, entryJson, predictedJson, error, JSON.stringify(evaluations)];
  return 100 + texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
}

const anyText = fc.option(fc.string({ unit: 'grapheme', maxLength: 5 }));
const anyEvaluation = fc
  .tuple(fc.constantFrom('a', 'b', 'Ä', '"'), fc.option(fc.integer({ min: 0, max: 2 })))
  .map(([name, score]) => evaluationOf(name, score));
const anyReport = fc
  .record({
    entryIndex: fc.integer({ min: 0, max: 2 }),
    entryId: anyText,
    entryJson: anyText,
    error: anyText,
    costUsd: fc.option(fc.integer({ min: 0, max: 2 })),
    evaluations: fc.array(anyEvaluation, { maxLength: 4 }),
  })
  .map(reported);

describe('the results of a run', () => {
  it('are the same, and as large, however the reports about them are divided', () => {
    fc.assert(
      fc.property(fc.array(anyReport, { maxLength: 8 }), (reports) => {
        const { run: atOnce, results } = apply(RUN, [], reports);
        let run = RUN;
        const stored = new Map<number, ExperimentResult>();
        for (const report of reports) {
          const applied = apply(run, [...stored.values()], [report]);
          run = applied.run;
          for (const { bytes, ...result } of applied.results) {
            expect(bytes).toBe(bytesOf(result));
            stored.set(result.entryIndex, result);
          }
          expect(apply(run, [...stored.values()], [report]).isRunChanged).toBe(false);
        }
        expect(run).toEqual(atOnce);
        expect(new Map(results.map(({ bytes: _, ...result }) => [result.entryIndex, result]))).toEqual(stored);
        expect(run.totalBytes).toBe([...stored.values()].reduce((sum, result) => sum + bytesOf(result), 0));
      }),
    );
  });

  it('take an evaluation in time that does not depend on their size', () => {
    const entryJson = JSON.stringify('x'.repeat(240_000));
    const reports = Array.from({ length: 4_000 }, (_, index) => reported({ evaluations: [evaluationOf('e', index)] }));
    const before = process.threadCpuUsage();
    expect(apply(RUN, [], [reported({ entryJson }), ...reports]).results).toHaveLength(1);
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
  });
});

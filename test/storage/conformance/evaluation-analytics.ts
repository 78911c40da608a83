import { describe, expect, it } from 'vitest';
import type {
  EvaluationAnalyticsAnswer,
  EvaluationAnalyticsQuery,
  EvaluationConditions,
} from '../../../src/domain/analytics/trace-analytics-store.ts';
import type { Evaluation } from '../../../src/domain/traces/trace.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleEvaluation } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const ANY: EvaluationConditions = { evaluatorId: null, label: null, monitorId: null };
const QUERY: EvaluationAnalyticsQuery = {
  projectNumber: PROJECT.number,
  expiredBeforeMs: null,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  interval: 'total',
  groupBy: 'none',
  conditions: ANY,
  hasPercentiles: true,
  groupsMax: 100,
  bucketsMax: 1_000,
};

function totalsOf(answer: EvaluationAnalyticsAnswer) {
  expect(answer.kind).toBe('buckets');
  return answer.kind === 'buckets' ? answer.buckets.map(({ group, totals }) => ({ group, ...totals })) : [];
}

let made = 0;
function evaluationOf(over: Partial<Evaluation>): Evaluation {
  made += 1;
  const plain = {
    passed: null,
    score: null,
    label: null,
    monitorId: null,
    errorJson: null,
    status: 'processed',
  } as const;
  return sampleEvaluation({ evaluationId: `analysed_${made}`, ...plain, ...over });
}

export function evaluationAnalyticsConformance(open: OpenSubject): void {
  describe('the analytics of evaluations', () => {
    it(
      'MUST count every append acknowledged before, and nothing of a trace that is past its term or of another project',
      withStore(open, async (store) => {
        for (let count = 1; count <= 3; count += 1) {
          const evaluations = [
            evaluationOf({ evaluatorId: 'e', passed: count > 1, score: count, label: 'é', monitorId: 'm' }),
            evaluationOf({ evaluatorId: 'f', status: 'skipped' }),
          ];
          // The second trace has no spans: its insertion time counts.
          const spans = count === 2 ? [] : [bareSpan({ startedAtMs: RECEIVED_AT_MS - 1000 })];
          await store.traces.append(sampleAppend({ spans, requests: [], evaluations }));
          const [whole] = totalsOf(await store.analytics.summariseEvaluations(QUERY));
          expect(whole).toMatchObject({ evaluations: 2 * count, processed: count, skipped: count, scored: count });
        }
        const ofOne = { ...QUERY, groupBy: 'evaluator_id' } as const;
        const scores = { scoreMean: 2, scoreMin: 1, scoreMax: 3, scores: { p50: 2, p95: 3, p99: 3 } };
        const nothing = { scoreMean: null, scoreMin: null, scoreMax: null, scores: null, passRate: null };
        expect(totalsOf(await store.analytics.summariseEvaluations(ofOne))).toEqual([
          expect.objectContaining({ group: 'e', evaluations: 3, passed: 2, failed: 1, passRate: 2 / 3, ...scores }),
          expect.objectContaining({ group: 'f', evaluations: 3, skipped: 3, ...nothing }),
        ]);
        const began = { ...QUERY, fromMs: RECEIVED_AT_MS };
        expect(totalsOf(await store.analytics.summariseEvaluations(began))).toMatchObject([
          { evaluations: 2, scoreMean: 2 },
        ]);
        for (const conditions of [
          { ...ANY, evaluatorId: 'e' },
          { ...ANY, label: 'é' },
          { ...ANY, monitorId: 'm' },
        ]) {
          const [found] = totalsOf(await store.analytics.summariseEvaluations({ ...QUERY, conditions }));
          expect(found).toMatchObject({ evaluations: 3, processed: 3 });
        }
        const afterRetention = { ...QUERY, expiredBeforeMs: RECEIVED_AT_MS + 1 };
        expect(totalsOf(await store.analytics.summariseEvaluations(afterRetention))).toEqual([]);
        const foreign = { ...QUERY, projectNumber: PROJECT.number + 1 };
        expect(totalsOf(await store.analytics.summariseEvaluations(foreign))).toEqual([]);
      }),
    );

    it(
      'goes through more traces, and more evaluations of one trace, than it reads at once',
      withStore(open, async (store) => {
        const many = Array.from({ length: 1_200 }, () => evaluationOf({ evaluatorId: 'many', score: 0.25 }));
        const startOf = (index: number) => RECEIVED_AT_MS - (index % 300);
        const appends = Array.from({ length: 2_300 }, (_, index) =>
          store.traces.append(
            sampleAppend({
              spans: [bareSpan({ startedAtMs: startOf(index) })],
              requests: [],
              evaluations: index === 1_000 ? many : index % 2 === 0 ? [evaluationOf({ evaluatorId: 'one' })] : [],
            }),
          ),
        );
        await Promise.all(appends);
        const query = { ...QUERY, groupBy: 'evaluator_id' } as const;
        expect(totalsOf(await store.analytics.summariseEvaluations(query))).toEqual([
          expect.objectContaining({ group: 'many', evaluations: 1_200, scoreMean: 0.25 }),
          expect.objectContaining({ group: 'one', evaluations: 1_149 }),
        ]);
        const some = {
          ...QUERY,
          fromMs: startOf(299),
          toMs: startOf(150),
          conditions: { ...ANY, evaluatorId: 'one' },
        };
        const expected = Array.from({ length: 2_300 }, (_, index) => index).filter(
          (index) => index % 2 === 0 && index !== 1_000 && index % 300 >= 150,
        );
        expect(totalsOf(await store.analytics.summariseEvaluations(some))).toMatchObject([
          { evaluations: expected.length },
        ]);
      }),
    );
  });
}

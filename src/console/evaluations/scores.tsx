/** The scores of an evaluator or a monitor: their totals, and one metric over time. */

import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import type { EvaluationAnalyticsBucket } from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { Answer, currentData } from '../design/answer.tsx';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatScore, formatShare } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { ChartCard } from '../overview/chart-card.tsx';
import { type Figure, FigureCards } from '../overview/figure-cards.tsx';
import { type Metric, meansInput, rangeInput, seriesInput } from '../overview/series.ts';
import { writeQueryLine } from '../traces/query-line.ts';
import { withNamedRange, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { countedBy } from './counted.ts';
import { ErrorReasons } from './error-reasons.tsx';
import type { ScoreMetricName, ScoreSearch } from './search.ts';

const METRICS: Readonly<Record<ScoreMetricName, Metric<EvaluationAnalyticsBucket>>> = {
  mean: {
    label: 'Mean score',
    format: formatScore,
    read: ({ scoreMean }) => scoreMean?.value ?? null,
    emptyValue: null,
  },
  'pass-rate': {
    label: 'Pass rate',
    format: formatShare,
    read: ({ passRate }) => passRate?.value ?? null,
    emptyValue: null,
  },
  p50: { label: 'Score, p50', format: formatScore, read: ({ scoreP50 }) => scoreP50?.value ?? null, emptyValue: null },
  p95: { label: 'Score, p95', format: formatScore, read: ({ scoreP95 }) => scoreP95?.value ?? null, emptyValue: null },
  evaluations: {
    label: 'Evaluations',
    format: formatCount,
    read: ({ evaluations }) => Number(evaluations ?? 0n),
    emptyValue: 0,
  },
};

const SCORES_OF: { readonly [metric in ScoreMetricName]?: true } = { mean: true, p50: true, p95: true };

type ScoresProps = {
  readonly slug: string;
  /** Selects the evaluations. */
  readonly input: { readonly evaluatorId: string } | { readonly monitorId: string };
  /** The evaluator that their traces name, and its type. */
  readonly evaluatorId: string;
  readonly evaluatorType: string | null;
  readonly search: ScoreSearch;
  readonly onChange: (change: ChangeOf<ScoreSearch>) => void;
};

export function Scores({ slug, input, evaluatorId, evaluatorType, search, onChange }: ScoresProps) {
  const range = writeRange(search);
  const request = { method: EvaluationService.method.queryEvaluationAnalytics, range };
  const total = useRangeQuery({
    ...request,
    input: { ...input, interval: AnalyticsInterval.TOTAL },
    toRangeInput: rangeInput,
  });
  const sum = total.data?.answer.buckets[0];
  const counted = countedBy(evaluatorType ?? undefined)?.[1] ?? null;
  const shown = search.metric ?? (sum ? metricOf(sum) : 'mean');
  const isSum = METRICS[shown].emptyValue === 0;
  const timed = useRangeQuery({
    ...request,
    input: { ...input, ...(isSum && { metrics: 'evaluations' }) },
    toRangeInput: isSum ? seriesInput : meansInput,
  });
  const error = total.error ?? timed.error;
  return (
    <>
      <div className={page.head}>
        <h2>Scores</h2>
        <RangePicker search={search} onChange={onChange} />
      </div>
      {error && <FailureNotice error={error} retry={() => Promise.all([total.refetch(), timed.refetch()])} />}
      {total.isPending && !error && <Loading />}
      {currentData(total) && !sum && (
        <Empty title="No evaluation in this range">An evaluation counts at the start time of its trace.</Empty>
      )}
      {sum && (
        <Answer isOld={total.isPlaceholderData}>
          <FigureCards slug={slug} figures={figuresOf(sum, range, { evaluatorId, counted })} />
        </Answer>
      )}
      {sum && !total.isPlaceholderData && ((sum.errors ?? 0n) > 0n || sum.skipped === sum.evaluations) && (
        <ErrorReasons
          state={(sum.errors ?? 0n) > 0n ? 'error' : 'skipped'}
          slug={slug}
          evaluatorId={evaluatorId}
          monitorId={'monitorId' in input ? input.monitorId : undefined}
          range={range}
        />
      )}
      {sum && !error && (
        <ChartCard
          metrics={METRICS}
          shown={shown}
          hint={
            counted !== null &&
            shown in SCORES_OF &&
            `The score is the number of ${counted}: less is better, and 0 is best.`
          }
          data={currentData(timed)}
          onShow={(name) => onChange({ metric: name })}
        />
      )}
    </>
  );
}

/** The metric to show first: what the evaluator gives depends on its kind. */
function metricOf({ scored, passRate }: EvaluationAnalyticsBucket): ScoreMetricName {
  if (scored) return 'mean';
  return passRate?.value === undefined ? 'evaluations' : 'pass-rate';
}

type Source = { readonly evaluatorId: string; readonly counted: string | null };

function figuresOf(
  sum: EvaluationAnalyticsBucket,
  range: TraceListSearch,
  { evaluatorId, counted }: Source,
): readonly Figure[] {
  const find = (name: string, value: string) => ({
    ...withNamedRange(range),
    q: writeQueryLine({ text: '', filters: [{ name, value }] }),
  });
  return [
    {
      label: 'Evaluations',
      value: formatCount(sum.evaluations),
      note: `${formatCount(sum.skipped)} skipped, ${formatCount(sum.errors)} ${sum.errors === 1n ? 'error' : 'errors'}`,
      isBad: (sum.errors ?? 0n) > 0n,
      search: find('evaluator', evaluatorId),
    },
    {
      label: 'Pass rate',
      value: formatShare(sum.passRate?.value),
      note: sum.passRate?.value === undefined ? '' : `${formatCount(sum.failed)} did not pass`,
      search: find(`passed.${evaluatorId}`, 'false'),
    },
    {
      label: 'Mean score',
      value: formatScore(sum.scoreMean?.value),
      note: scoreNote(sum, counted),
      search: find('scored', evaluatorId),
    },
    {
      label: 'Score, p50',
      value: formatScore(sum.scoreP50?.value),
      note: sum.scored ? `p95 ${formatScore(sum.scoreP95?.value)}` : '',
      search: find('scored', evaluatorId),
    },
  ];
}

function scoreNote({ scored, scoreMin, scoreMax }: EvaluationAnalyticsBucket, counted: string | null): string {
  if (!scored) return '';
  const range = `${formatScore(scoreMin?.value)} to ${formatScore(scoreMax?.value)}`;
  return counted === null ? range : `${range} ${counted}; 0 is best`;
}

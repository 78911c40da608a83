/** Reads what is asked of a chart, in the names of LangWatch's interface. */

import type { EvaluationGroupBy } from '../evaluations/analytics/query.ts';
import type { Reason } from '../fault.ts';
import { choiceReason, customReason, rangeProblems, unavailableReason } from '../reasons.ts';
import type { SentFilter } from '../traces/search/trace-search-query.ts';
import type { GroupBy } from './query.ts';
import { type IntervalPlan, isTimeZone, planIntervals, type TimeScale } from './timeseries-intervals.ts';
import { FAILED_TRACES, MEASURES, type Measure } from './timeseries-measures.ts';
import { ANY_TRACE, type TraceConditions } from './trace-analytics-store.ts';

export type SentSeries = {
  readonly metric: string;
  readonly aggregation: string;
  readonly key: string | null;
};

export type SentTimeseries = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly series: readonly SentSeries[];
  readonly groupBy: string | null;
  /** JSON text; null: not sent. */
  readonly timeScaleJson: string | null;
  readonly timeZone: string | null;
  readonly filters: readonly SentFilter[];
};

export type Series = { readonly name: string; readonly measure: Measure; readonly evaluatorId: string | null };

export type Timeseries = {
  readonly series: readonly Series[];
  /** `name` is that of the request. */
  readonly grouping: {
    readonly name: string;
    readonly traces: GroupBy;
    readonly evaluations: EvaluationGroupBy;
  } | null;
  readonly conditions: TraceConditions;
  readonly planOf: (range: { readonly fromMs: number; readonly toMs: number }) => IntervalPlan;
  readonly isFull: boolean;
};

/** What each groups traces and evaluations by; null: not at all. */
const GROUPINGS: {
  readonly [name: string]: { readonly traces: GroupBy | null; readonly evaluations: EvaluationGroupBy | null };
} = {
  'metadata.model': { traces: 'model', evaluations: null },
  'metadata.user_id': { traces: 'user_id', evaluations: null },
  'metadata.thread_id': { traces: 'thread_id', evaluations: null },
  'metadata.customer_id': { traces: 'customer_id', evaluations: null },
  'metadata.labels': { traces: 'label', evaluations: null },
  'prompt.id': { traces: 'prompt_id', evaluations: null },
  'prompt.version': { traces: 'prompt_version', evaluations: null },
  'evaluations.evaluation_label': { traces: null, evaluations: 'label' },
};

const CONDITIONS: { readonly [name: string]: keyof TraceConditions } = {
  'metadata.user_id': 'userId',
  'metadata.thread_id': 'threadId',
  'metadata.customer_id': 'customerId',
  'metadata.labels': 'label',
  'spans.model': 'model',
  'prompt.id': 'promptId',
  'prompt.version': 'promptVersion',
};
const FAILED = 'traces.error';

const DAY_MINUTES = 1_440;
const SCALE_MAX_MINUTES = 366 * DAY_MINUTES;

export function timeseriesProblems(sent: SentTimeseries): readonly Reason[] {
  return read(sent).problems;
}

/** Only for a request without problems. */
export function readTimeseries(sent: SentTimeseries): Timeseries {
  return read(sent).timeseries;
}

function read(sent: SentTimeseries): { readonly timeseries: Timeseries; readonly problems: readonly Reason[] } {
  const problems: Reason[] = [...rangeProblems(sent.fromMs, sent.toMs)];
  const series = sent.series.flatMap((each, index) => readSeries(each, index, problems));
  const grouping = readGrouping(sent.groupBy, series, problems);
  const scale = readScale(sent.timeScaleJson, problems);
  const timeZone = sent.timeZone ?? 'UTC';
  if (!isTimeZone(timeZone))
    problems.push(customReason('timeZone', 'timeZone must be an IANA name, such as Europe/Lisbon'));
  const ofFailed = sent.filters.filter(({ name, values }) => name === FAILED && values.length > 0);
  const others = sent.filters.filter(({ name }) => name !== FAILED);
  const conditions = readConditions(others, series, problems);
  const isByModel = grouping?.traces === 'model' || conditions.model !== null;
  if (ofFailed.length > 0) problems.push(...failedProblems(ofFailed, series, isByModel));
  const folds = series.every(({ measure }) => measure.folding !== 'single');
  const planOf: Timeseries['planOf'] = (range) =>
    planIntervals({
      ...range,
      scale,
      timeZone: isTimeZone(timeZone) ? timeZone : 'UTC',
      mayBeLocal: folds && grouping === null,
    });
  const counted = series.map((each) => (ofFailed.length > 0 ? { ...each, measure: FAILED_TRACES } : each));
  return { timeseries: { series: counted, grouping, conditions, planOf, isFull: scale === 'full' }, problems };
}

function readSeries(sent: SentSeries, index: number, problems: Reason[]): readonly Series[] {
  const path = `series.${index}`;
  const { metric, aggregation, key } = sent;
  if (!Object.hasOwn(MEASURES, metric)) {
    problems.push(choiceReason(`${path}.metric`, Object.keys(MEASURES), metric));
    return [];
  }
  const aggregations = MEASURES[metric] ?? {};
  const measure = Object.hasOwn(aggregations, aggregation) ? aggregations[aggregation] : undefined;
  if (measure === undefined) {
    problems.push(choiceReason(`${path}.aggregation`, Object.keys(aggregations), aggregation));
    return [];
  }
  if (key !== null && measure.source !== 'evaluations') problems.push(unavailableReason(`${path}.key`));
  // As LangWatch names series in its answers.
  const name = [index, metric, aggregation === 'terms' ? 'cardinality' : aggregation, ...(key === null ? [] : [key])];
  return [{ name: name.join('/'), measure, evaluatorId: key }];
}

function readGrouping(name: string | null, series: readonly Series[], problems: Reason[]): Timeseries['grouping'] {
  if (name === null) return null;
  const known = Object.hasOwn(GROUPINGS, name) ? GROUPINGS[name] : undefined;
  if (known === undefined) {
    problems.push(choiceReason('groupBy', Object.keys(GROUPINGS), name));
    return null;
  }
  const { traces, evaluations } = known;
  const isFit = ({ measure: { source } }: Series) =>
    source === 'evaluations' ? evaluations !== null : source !== 'groups' && traces !== null;
  const misfit = series.findIndex((each) => !isFit(each));
  if (misfit >= 0) problems.push(customReason('groupBy', `groupBy ${name} is not available for series.${misfit}`));
  return { name, traces: traces ?? 'none', evaluations: evaluations ?? 'none' };
}

function readScale(json: string | null, problems: Reason[]): TimeScale {
  if (json === null || json === 'null') return DAY_MINUTES;
  if (json === '"full"') return 'full';
  const minutes = /^\d{1,6}(\.0+)?$/.test(json) ? Number(json) : 0;
  if (minutes >= 1 && minutes <= SCALE_MAX_MINUTES) return minutes;
  problems.push(customReason('timeScale', `timeScale must be full, or whole minutes from 1 to ${SCALE_MAX_MINUTES}`));
  return DAY_MINUTES;
}

function readConditions(filters: readonly SentFilter[], series: readonly Series[], problems: Reason[]) {
  const conditions: { -readonly [Name in keyof TraceConditions]: TraceConditions[Name] } = { ...ANY_TRACE };
  const filled = filters.filter(({ values }) => values.length > 0);
  for (const { name, key, values } of filled) {
    const field = `filters.${name}`;
    const condition = Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name] : undefined;
    if (condition === undefined) problems.push(choiceReason('filters', Object.keys(CONDITIONS), name));
    else if (key !== null || values.length > 1) problems.push(customReason(field, `${field} must have one value here`));
    else conditions[condition] = values[0] ?? null;
  }
  if (filled.length > 0 && series.some(({ measure }) => measure.source === 'evaluations')) {
    problems.push(customReason('filters', 'filters are not available for metrics of evaluations'));
  }
  return conditions;
}

/** Sums tell how many traces failed, and nothing else of them; of models they count spans. */
function failedProblems(
  filters: readonly SentFilter[],
  series: readonly Series[],
  isByModel: boolean,
): readonly Reason[] {
  const field = `filters.${FAILED}`;
  if (filters.some(({ key, values }) => key !== null || values.join() !== 'true')) {
    return [customReason(field, `${field} must be true here`)];
  }
  const isFit = !isByModel && series.every(({ name }) => name.split('/')[1] === 'metadata.trace_id');
  return isFit ? [] : [customReason(field, `${field} is available for metadata.trace_id alone, and not by model`)];
}

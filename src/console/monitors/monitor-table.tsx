import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import {
  type EvaluationAnalyticsBucket,
  EvaluationGrouping,
} from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { type Monitor, MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { Badge, Button, joined } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatScore, formatSetShare, formatShare, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { countedBy } from '../evaluations/counted.ts';
import { rangeInput } from '../overview/series.ts';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import { formatConditions, modeName, monitorState } from './monitor-enums.ts';

const route = getRouteApi('/$slug/monitors');

type Monitors = { readonly monitors: readonly Monitor[] };
/** By the id of a monitor; those without evaluations are absent. */
type Scores = ReadonlyMap<string, EvaluationAnalyticsBucket>;

/** Also groups that belong to deleted monitors count. */
const GROUPS_MAX = 1_000;

/** The monitors with the scores of a range, for keys that may read analytics. */
export function ScoredMonitorTable({ monitors }: Monitors) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch, isPlaceholderData } = useRangeQuery({
    method: EvaluationService.method.queryEvaluationAnalytics,
    range: search,
    input: {
      interval: AnalyticsInterval.TOTAL,
      groupBy: EvaluationGrouping.MONITOR_ID,
      metrics: 'evaluations,skipped,errors,pass_rate,score_mean',
      limit: GROUPS_MAX,
    },
    toRangeInput: rangeInput,
  });
  const scores = new Map(data?.answer.buckets.map((bucket) => [bucket.group ?? '', bucket]));
  return (
    <>
      <div className={page.row}>
        <RangePicker
          search={search}
          onChange={(part) => void navigate({ search: writeRange({ ...search, ...part }), replace: true })}
        />
      </div>
      {error && <FailureNotice error={error} retry={refetch} />}
      <MonitorTable monitors={monitors} scores={scores} isOld={isPlaceholderData} />
    </>
  );
}

const ABOUT = ['Name', 'State', 'Evaluator', 'Runs', { number: 'Share' }, 'Conditions'];
const SCORES = [{ number: 'Evaluations' }, { number: 'Errors' }, { number: 'Pass rate' }, { number: 'Mean score' }];

type MonitorTableProps = Monitors & {
  readonly scores: Scores | null;
  /** Whether the scores are those of another range. */
  readonly isOld?: boolean;
};

export function MonitorTable({ monitors, scores, isOld = false }: MonitorTableProps) {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const { may } = useSession();
  const evaluators = useQuery(EvaluatorService.method.listEvaluators);
  const toggle = useChange(MonitorService.method.toggleMonitor);
  const nameOf = (id: string | undefined) => evaluators.data?.evaluators.find((each) => each.id === id)?.name;
  return (
    <>
      {toggle.isError && <FailureNotice error={toggle.error} />}
      <Table columns={[...ABOUT, ...(scores ? SCORES : []), 'Actions']}>
        {monitors.map((monitor) => (
          <tr key={monitor.id}>
            <td>
              <Link to="/$slug/monitors/$monitorId" params={{ slug, monitorId: monitor.id }} search={search}>
                {nameControls(monitor.name ?? monitor.slug)}
              </Link>
            </td>
            <td>
              <StateBadge monitor={monitor} sum={scores?.get(monitor.id)} isOld={isOld} />
            </td>
            <td>{nameControls(nameOf(monitor.evaluatorId) ?? monitor.checkType)}</td>
            <td>{modeName(monitor.executionMode)}</td>
            <td className={page.number}>{formatSetShare(monitor.sample ?? 1)}</td>
            <td className={page.mono}>{formatConditions(monitor) || 'any trace'}</td>
            {scores && (
              <ScoreCells
                bucket={scores.get(monitor.id)}
                counted={countedBy(monitor.checkType)?.[1] ?? null}
                isOld={isOld}
              />
            )}
            <td>
              {may('evaluations:manage') && (
                <Button
                  small
                  disabled={toggle.isPending}
                  aria-label={`${monitor.enabled ? 'Disable' : 'Enable'} ${nameControls(monitor.name ?? monitor.slug)}`}
                  onClick={() => toggle.mutate({ idOrSlug: monitor.id, enabled: !monitor.enabled })}
                >
                  {monitor.enabled ? 'Disable' : 'Enable'}
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

type StateBadgeProps = {
  readonly monitor: Monitor;
  readonly sum: EvaluationAnalyticsBucket | undefined;
  readonly isOld?: boolean;
};

export function StateBadge({ monitor, sum, isOld = false }: StateBadgeProps) {
  const { text, tone } = monitorState(monitor, sum);
  return (
    <span className={joined(isOld && page.old)}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

type ScoreCellsProps = {
  readonly bucket: EvaluationAnalyticsBucket | undefined;
  /** What the score counts; null for scores of which more is better. */
  readonly counted: string | null;
  readonly isOld: boolean;
};

function ScoreCells({ bucket, counted, isOld }: ScoreCellsProps) {
  const cell = joined(page.number, isOld && page.old);
  return (
    <>
      <td className={cell}>{formatCount(bucket?.evaluations)}</td>
      <td className={joined(cell, (bucket?.errors ?? 0n) > 0n && page.wrong)}>{formatCount(bucket?.errors)}</td>
      <td className={cell}>{formatShare(bucket?.passRate?.value)}</td>
      <td className={cell}>
        {formatScore(bucket?.scoreMean?.value)}
        {counted !== null && bucket?.scoreMean && <span className={page.soft}> {counted}</span>}
      </td>
    </>
  );
}

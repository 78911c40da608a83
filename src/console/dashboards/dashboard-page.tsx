/** One dashboard with its graphs over a range. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { DashboardService, type Graph, GraphService } from '../../../gen/spandrel/v1/dashboards_pb.js';
import { TimeseriesService } from '../../../gen/spandrel/v1/timeseries_pb.js';
import { Answer, currentData } from '../design/answer.tsx';
import { Button } from '../design/button.tsx';
import { ConfirmButton } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Back, Page, PendingPage } from '../design/page.tsx';
import { BareTable } from '../design/table.tsx';
import { GridCard } from '../overview/chart-grid.tsx';
import styles from '../overview/overview.module.css';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { writeQueryLine } from '../traces/query-line.ts';
import { type Bounds, type RangeSearch, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import { RenameDashboard } from './dashboard-list-page.tsx';
import {
  bucketsOf,
  filtersOf,
  groupsOf,
  metricOf,
  readGraph,
  type ShownGraph,
  scaleInput,
  seriesName,
} from './graph-metrics.ts';

const route = getRouteApi('/$slug/dashboards/$dashboardId');
const GROUPS_SHOWN = 20;

export default function DashboardPage() {
  const { slug, dashboardId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { may } = useSession();
  const found = useQuery(DashboardService.method.getDashboard, { id: dashboardId });
  const back = <Back to="/$slug/dashboards" params={{ slug }} label="Dashboards" />;
  if (!found.data?.dashboard) return <PendingPage back={back} found={found} />;
  const { dashboard, graphs } = found.data;
  return (
    <Page
      back={back}
      title={<bdi>{nameControls(dashboard.name)}</bdi>}
      sub="Whoever may see this project can open this address."
      actions={
        <div className={page.row}>
          <RangePicker
            search={search}
            onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as RangeSearch, replace: true })}
          />
          {may('analytics:update') && <RenameDashboard id={dashboard.id} name={dashboard.name} />}
        </div>
      }
    >
      {graphs.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No graph yet</h2>
          <p>“Pin” on a chart of the overview puts it here.</p>
        </div>
      )}
      <div className={styles.grid}>
        {graphs.map((graph, index) => (
          <GraphCards key={graph.id} slug={slug} range={writeRange(search)} graph={graph} before={graphs[index - 1]} />
        ))}
      </div>
    </Page>
  );
}

type GraphCardsProps = {
  readonly slug: string;
  readonly range: RangeSearch;
  readonly graph: Graph;
  /** The graph before it, whose place it can take. */
  readonly before: Graph | undefined;
};

/** A card for each series of a graph. */
function GraphCards({ slug, range, graph, before }: GraphCardsProps) {
  const shown = useMemo(() => readGraph(graph), [graph]);
  const actions = <GraphActions graph={graph} before={before} />;
  const name = nameControls(graph.name ?? '');
  if (shown === null) {
    return (
      <section className={`${page.card} ${page.padded}`} aria-label={name}>
        <div className={page.head}>
          <h2>{name}</h2>
          {actions}
        </div>
        <p className={page.soft}>Its definition names no series, so there is nothing to draw.</p>
      </section>
    );
  }
  return shown.series.map((series, index) => {
    const title = shown.series.length > 1 ? `${name}: ${series.metric}, ${series.aggregation}` : name;
    const props = { slug, range, shown, at: index, title, actions: index === 0 ? actions : null };
    const isWide = graph.colSpan === 2;
    return shown.groupBy === null ? (
      <SeriesCard key={seriesName(series)} {...props} isWide={isWide} />
    ) : (
      <GroupsCard key={seriesName(series)} {...props} groupBy={shown.groupBy} isWide={isWide} />
    );
  });
}

type CardProps = {
  readonly slug: string;
  readonly range: RangeSearch;
  readonly shown: ShownGraph;
  /** The index of the series. */
  readonly at: number;
  readonly title: string;
  readonly actions: React.ReactNode;
  readonly isWide: boolean;
};

function useSeries(
  { shown, range, at }: Pick<CardProps, 'shown' | 'range' | 'at'>,
  toScale: (bounds: Bounds) => { readonly timeScaleJson: string; readonly timeZone?: string },
) {
  const series = shown.series[at] ?? { metric: '', aggregation: '' };
  const found = useRangeQuery({
    method: TimeseriesService.method.queryTimeseries,
    range,
    input: {
      series: [series],
      filters: shown.filters.map((filter) => ({ ...filter })),
      ...(shown.groupBy !== null && { groupBy: shown.groupBy }),
    },
    toRangeInput: (bounds) => ({
      startDate: timestampFromMs(bounds.fromMs),
      endDate: timestampFromMs(bounds.toMs),
      ...toScale(bounds),
    }),
  });
  return { series, found };
}

function SeriesCard(props: CardProps) {
  const { slug, range, shown, title, actions, isWide } = props;
  const { may } = useSession();
  const isBad = shown.filters.some(({ name }) => name === 'traces.error');
  const named = shown.series[props.at];
  const metric = useMemo(() => metricOf(named ?? { metric: '', aggregation: '' }, title, isBad), [named, title, isBad]);
  const { series, found } = useSeries(props, (bounds) => scaleInput(bounds, metric));
  const answered = currentData(found);
  const data = useMemo(() => {
    if (!answered) return undefined;
    const buckets = bucketsOf(answered.answer.currentPeriod, seriesName(series));
    return { bounds: answered.bounds, answer: { buckets } };
  }, [answered, series]);
  const filters = filtersOf(shown);
  if (found.isError) return <FailedCard {...props} error={found.error} retry={() => void found.refetch()} />;
  return (
    <GridCard
      slug={slug}
      name="dashboard"
      title={title}
      metric={metric}
      data={data}
      search={
        filters === null || !may('traces:view')
          ? null
          : { ...range, ...(filters.length > 0 && { q: writeQueryLine({ text: '', filters }) }) }
      }
      actions={actions}
      isWide={isWide}
    />
  );
}

function GroupsCard(props: CardProps & { readonly groupBy: string }) {
  const { title, groupBy, actions, isWide } = props;
  const { series, found } = useSeries(props, () => ({ timeScaleJson: '"full"' }));
  if (found.isError) return <FailedCard {...props} error={found.error} retry={() => void found.refetch()} />;
  const groups = groupsOf(found.data?.answer.currentPeriod ?? [], { name: seriesName(series), groupBy });
  const { format } = metricOf(series, title, false);
  return (
    <section className={`${page.card} ${isWide ? styles.wide : ''}`} aria-label={title} aria-busy={found.isPending}>
      <div className={`${page.head} ${styles.tableHead}`}>
        <h2>{title}</h2>
        {actions}
      </div>
      <Answer isOld={found.isPlaceholderData}>
        <BareTable columns={[groupBy, { number: series.aggregation }]}>
          {groups.slice(0, GROUPS_SHOWN).map(({ group, value }) => (
            <tr key={group}>
              <td>
                <bdi>{nameControls(group)}</bdi>
              </td>
              <td className={page.number}>{format(value)}</td>
            </tr>
          ))}
        </BareTable>
      </Answer>
    </section>
  );
}

type FailedCardProps = Pick<CardProps, 'title' | 'actions'> & { readonly error: unknown; readonly retry: () => void };

/** A graph that LangWatch can draw, and this server cannot, says why. */
function FailedCard({ title, actions, error, retry }: FailedCardProps) {
  return (
    <section className={`${page.card} ${page.padded}`} aria-label={title}>
      <div className={page.head}>
        <h2>{title}</h2>
        {actions}
      </div>
      <FailureNotice error={error} retry={retry} />
    </section>
  );
}

function GraphActions({ graph, before }: Pick<GraphCardsProps, 'graph' | 'before'>) {
  const { may } = useSession();
  const update = useChange(GraphService.method.updateGraph);
  const { id, name = '', gridRow = 0, gridColumn = 0, colSpan = 1 } = graph;
  /** Takes the place of the graph before it, which takes its own. */
  async function swap() {
    if (before === undefined) return;
    const [mine, theirs] = [
      { gridRow, gridColumn },
      { gridRow: before.gridRow ?? 0, gridColumn: before.gridColumn ?? 0 },
    ];
    await update.mutateAsync({ id: before.id, graph: mine });
    await update.mutateAsync({ id, graph: theirs });
  }
  return (
    <div className={page.row}>
      {may('analytics:update') && (
        <>
          {before !== undefined && (
            <Button
              small
              disabled={update.isPending}
              aria-label={`Move ${name} earlier`}
              onClick={() => void swap().catch(() => undefined)}
            >
              Earlier
            </Button>
          )}
          <Button
            small
            disabled={update.isPending}
            aria-pressed={colSpan === 2}
            aria-label={`Wide: ${name}`}
            onClick={() => update.mutate({ id, graph: { colSpan: colSpan === 2 ? 1 : 2 } })}
          >
            Wide
          </Button>
        </>
      )}
      {may('analytics:manage') && (
        <ConfirmButton
          label="Remove"
          small
          title={`Remove ${nameControls(name)}`}
          action="Remove"
          typed={null}
          method={GraphService.method.deleteGraph}
          input={{ id }}
        >
          The graph is deleted for everyone.
        </ConfirmButton>
      )}
      {update.isError && <FailureNotice error={update.error} />}
    </div>
  );
}

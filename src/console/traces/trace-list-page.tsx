/** The list of traces; the address holds the search. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { SortDirection, type Trace, TraceService, TraceSort } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Check } from '../design/form.tsx';
import { formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import { Heading } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { ColumnPicker } from './column-picker.tsx';
import { ExportMenu, ExportStatus, useExport } from './export.tsx';
import { FilterBar } from './filter-bar.tsx';
import { useLive } from './live.ts';
import { LiveStatus } from './live-status.tsx';
import { mergeLive } from './live-traces.ts';
import { RANGE_DEFAULT } from './range.ts';
import { RangePicker } from './range-picker.tsx';
import { useRangePages } from './range-query.ts';
import type { TraceListSearch } from './search.ts';
import { toFilterInput, toRangeInput } from './search-input.ts';
import styles from './trace-list-page.module.css';
import { TraceTable } from './trace-table.tsx';

const route = getRouteApi('/$slug/traces');
const FirstTrace = lazy(() => import('./first-trace.tsx'));

const PAGE_SIZE = 100;
const LONGEST_RANGE = '1y';

const SORTS = {
  started: TraceSort.STARTED_AT,
  cost: TraceSort.TOTAL_COST,
  duration: TraceSort.TOTAL_TIME_MS,
  'first-token': TraceSort.FIRST_TOKEN_MS,
};

export default function TraceListPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: ChangeOf<TraceListSearch>) =>
    void navigate({ search: (now: TraceListSearch) => ({ ...now, ...part }) as TraceListSearch, replace: true });
  const { found, traces, live } = useTraces(search);
  const exporting = useExport(search);
  const isEverything = search.q === undefined && (search.range === undefined || search.range === RANGE_DEFAULT);
  const isEmpty = found.isSuccess && !found.isPlaceholderData && traces.length === 0 && !found.hasNextPage;
  const isFirst = useHasNoTraces(isEmpty && isEverything);
  if (isFirst) {
    return (
      <Suspense fallback={<Loading />}>
        <FirstTrace />
      </Suspense>
    );
  }
  const pagination = found.data?.pages[0]?.answer.pagination;
  const reload = () => {
    live.clear();
    void found.refetch();
  };
  return (
    <div className={styles.page}>
      <div className={page.head}>
        <Heading>Traces</Heading>
        <div className={page.row}>
          <LiveStatus live={live} onReload={reload} />
          <Check
            checked={search.live === true}
            // Live traces appear at the top, so the list must be sorted by start.
            onChange={(isOn) => change(isOn ? { live: true, sort: undefined, dir: undefined } : { live: undefined })}
          >
            Live
          </Check>
          <RangePicker search={search} onChange={change} />
          <ColumnPicker value={search.columns} onChange={(columns) => change({ columns })} />
          <ExportMenu search={search} onStart={(includeSpans) => void exporting.start(includeSpans)} />
        </div>
      </div>
      <FilterBar search={search} onChange={change} />
      <ExportStatus run={exporting.run} all={Number(pagination?.totalHits ?? 0n)} onEnd={exporting.end} />
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.isPending && <Loading />}
      {found.data && (
        <TraceTable
          traces={traces}
          search={search}
          onSort={(sort, dir) => change({ sort, dir, live: undefined })}
          more={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : null}
        />
      )}
      <p className={styles.count} role="status">
        {found.data && <Count traces={traces} total={pagination} />}{' '}
        {found.data?.pages.at(-1)?.answer.pagination?.partial === true &&
          'Many traces are being indexed: older ones are not searched yet. Scroll or search again to go on. '}
        {isEmpty && isEverything && (
          <Button small onClick={() => change({ range: LONGEST_RANGE })}>
            Search older traces
          </Button>
        )}
      </p>
    </div>
  );
}

/**
 * Whether the project never had a trace. Stays true until the list has one, so that the page that waits for the first
 * trace remains.
 */
function useHasNoTraces(isEnabled: boolean): boolean {
  const [isKnown, setKnown] = useState(false);
  const { data } = useQuery(
    TraceService.method.searchTraces,
    { startDate: timestampFromMs(0), pageSize: 1 },
    { enabled: isEnabled },
  );
  const isNone = isEnabled && data?.traces.length === 0 && !data.pagination?.nextPageToken;
  useEffect(() => {
    if (isNone) setKnown(true);
  }, [isNone]);
  return isNone || (isEnabled && isKnown);
}

type CountProps = {
  readonly traces: readonly Trace[];
  readonly total: { readonly totalHits: bigint; readonly totalHitsRelation: string } | undefined;
};

function Count({ traces, total }: CountProps) {
  // The count lacks traces that arrived after the search.
  const known = Math.max(Number(total?.totalHits ?? 0n), traces.length);
  const hits = `${formatCount(known)}${total?.totalHitsRelation === 'gte' ? ' or more' : ''}`;
  return <>{traces.length === 0 ? 'No trace matches.' : `${formatCount(traces.length)} of ${hits} shown`}</>;
}

function useTraces(search: TraceListSearch) {
  const { q, range, from, to, sort, dir, not, live: isLive } = search;
  const filterInput = useMemo(() => toFilterInput({ q, not }), [q, not]);
  const found = useRangePages({
    method: TraceService.method.searchTraces,
    range: { range, from, to },
    input: {
      ...filterInput,
      sortBy: SORTS[sort ?? 'started'],
      sortDirection: dir === 'asc' ? SortDirection.ASC : SortDirection.DESC,
      pageSize: PAGE_SIZE,
    },
    toRangeInput,
    nextPageToken: ({ pagination }) => pagination?.nextPageToken,
  });
  const { data, hasNextPage, refetch } = found;
  const live = useLive(isLive ? filterInput : null, () => void refetch());
  const traces = useMemo(() => {
    const rows =
      data?.pages.flatMap(({ answer }) =>
        answer.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])),
      ) ?? [];
    const bounds = data?.pages[0]?.bounds;
    if (live.traces.size === 0 || !bounds) return rows;
    const toMs = bounds.isOpen ? Number.POSITIVE_INFINITY : bounds.toMs;
    return mergeLive(rows, live.traces, { fromMs: bounds.fromMs, toMs, isComplete: !hasNextPage });
  }, [data, hasNextPage, live.traces]);
  return { found, traces, live };
}

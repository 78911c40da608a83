/** The list of traces; the address holds the search. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, Loading, Skeleton } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Check } from '../design/form.tsx';
import { formatCount } from '../design/format.ts';
import { useMedia } from '../design/media.ts';
import page from '../design/page.module.css';
import { Heading } from '../design/page.tsx';
import { useRemembered } from '../design/remembered.ts';
import { type ChangeOf, text } from '../layout/search.ts';
import { loadsPart } from '../session/connection.ts';
import { useSession } from '../session/session.tsx';
import { AlertOnThis } from '../triggers/alert-on-this.tsx';
import { ColumnPicker } from './column-picker.tsx';
import { shownColumns } from './columns.tsx';
import { DeleteFound } from './delete-traces.tsx';
import { ExportMenu, ExportStatus, useExport } from './export.tsx';
import { FacetPanel } from './facet-panel.tsx';
import { FilterBar } from './filter-bar.tsx';
import { useLive } from './live.ts';
import { LiveStatus } from './live-status.tsx';
import { placeKey } from './place.ts';
import { toggleFilter } from './query-line.ts';
import { RANGE_DEFAULT, type Range } from './range.ts';
import { RangePicker } from './range-picker.tsx';
import type { TraceListSearch } from './search.ts';
import { useSelection } from './selection/use-selection.ts';
import styles from './trace-list-page.module.css';
import { TraceTable } from './trace-table.tsx';
import { useArrivals } from './use-arrivals.ts';
import { useTraces } from './use-traces.ts';

const route = getRouteApi('/$slug/traces');
const FirstTrace = lazy(loadsPart(() => import('./first-trace.tsx')));
const ListCharts = lazy(loadsPart(() => import('./charts/list-charts.tsx')));
const SelectionBar = lazy(loadsPart(() => import('./selection/selection-bar.tsx')));
const SavedViews = lazy(loadsPart(() => import('./saved-views.tsx')));

const LONGEST_RANGE = '1y';
const CHARTS_HEIGHT_PX = 194;
const BAR_HEIGHT_PX = 48;
const MOMENT_MS = 50;
const readDense = (kept: unknown) => kept !== false;
/** Charts take the height of some rows. */
const readCharts = (kept: unknown) => (typeof kept === 'boolean' ? kept : matchMedia('(min-height: 700px)').matches);
/** Beside the list there is room for facets; without a choice they are there if the table keeps its width. */
const WIDE = '(min-width: 1100px)';
const readFacets = (kept: unknown) => (typeof kept === 'boolean' ? kept : matchMedia('(min-width: 1440px)').matches);

export default function TraceListPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: ChangeOf<TraceListSearch>) =>
    void navigate({ search: (now: TraceListSearch) => ({ ...now, ...part }) as TraceListSearch, replace: true });
  const show = useCallback(
    (next: TraceListSearch, isStep: boolean) => void navigate({ search: next, replace: !isStep }),
    [navigate],
  );
  // The way back leads to the range before.
  const zoom = (range: Range) =>
    void navigate({ search: (now: TraceListSearch) => ({ ...now, ...range }) as TraceListSearch });
  const [columns, setColumns] = useRemembered('traces.columns', text);
  const [isDense, setDense] = useRemembered('traces.dense', readDense);
  const facets = useFacets();
  const [hasCharts, setCharts] = useRemembered('traces.charts', readCharts);
  const typed = useRef('');
  const { found, traces: rows, filterInput } = useTraces(search);
  const live = useLive(search.live ? filterInput : null, () => void found.refetch());
  const bounds = found.data?.pages[0]?.bounds ?? null;
  const arrivals = useArrivals({ rows, live: live.traces, bounds, isComplete: !found.hasNextPage });
  const { traces } = arrivals;
  const areRowsShown = useOnceShown(found.isSuccess);
  const isStale = found.isPlaceholderData;
  const selection = useSelection(traces, placeKey('', search));
  const exporting = useExport(search);
  const { may } = useSession();
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
          <LiveStatus live={live} arrivals={arrivals} onReload={reload} />
          <Check
            checked={search.live === true}
            // Live traces appear at the top, so the list must be sorted by start.
            onChange={(isOn) => change(isOn ? { live: true, sort: undefined, dir: undefined } : { live: undefined })}
          >
            Live
          </Check>
          <Button aria-expanded={facets.isOpen} onClick={() => facets.show(!facets.isOpen)}>
            Facets
          </Button>
          {may('analytics:view') && (
            <Button aria-expanded={hasCharts} onClick={() => setCharts(!hasCharts)}>
              Charts
            </Button>
          )}
          <Suspense fallback={<Button disabled>Views</Button>}>
            <SavedViews search={search} columns={shownColumns(search.columns ?? columns).join()} onShow={show} />
          </Suspense>
          <RangePicker search={search} onChange={change} />
          <ColumnPicker
            value={search.columns ?? columns}
            onChange={(next) => {
              setColumns(next);
              change({ columns: next });
            }}
            isDense={isDense}
            onDense={setDense}
          />
          <ExportMenu search={search} onStart={(includeSpans) => void exporting.start(includeSpans)} />
          {search.q !== undefined && search.not !== true && may('triggers:create') && (
            <AlertOnThis prefill={{ q: search.q }} />
          )}
          {!isEverything && may('project:manage') && <DeleteFound search={search} />}
        </div>
      </div>
      <FilterBar search={search} onChange={change} typedRef={typed} />
      <ExportStatus run={exporting.run} all={Number(pagination?.totalHits ?? 0n)} onEnd={exporting.end} />
      {hasCharts && may('analytics:view') && (
        <Suspense fallback={<Skeleton height={CHARTS_HEIGHT_PX} />}>
          {areRowsShown ? (
            <ListCharts search={search} isReady={!isStale} onZoom={zoom} />
          ) : (
            <Skeleton height={CHARTS_HEIGHT_PX} />
          )}
        </Suspense>
      )}
      <div className={styles.body}>
        {facets.isOpen && (
          <FacetPanel
            search={search}
            onToggle={(filter) => change({ q: toggleFilter(typed.current, filter) || undefined })}
          />
        )}
        <div className={styles.list}>
          {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
          {found.isPending && <Loading />}
          {found.data && (
            <TraceTable
              traces={traces}
              search={search}
              columns={search.columns ?? columns}
              isDense={isDense}
              isStale={isStale}
              onReading={arrivals.onReading}
              toTop={arrivals.released}
              selection={selection}
              onSort={(sort, dir) => change({ sort, dir, live: undefined })}
              more={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : null}
            />
          )}
          {selection.traces.size > 0 && (
            <Suspense fallback={<Skeleton height={BAR_HEIGHT_PX} />}>
              <SelectionBar
                {...{ selection, search }}
                isNarrowed={!isEverything}
                onExport={(ids, includeSpans) => void exporting.start(includeSpans, ids)}
              />
            </Suspense>
          )}
        </div>
      </div>
      <p className={styles.count} role="status">
        {isStale && 'Searching…'}
        {found.data && !isStale && (
          <Count shown={traces.length} arrived={traces.length - rows.length} total={pagination} />
        )}{' '}
        {!isStale &&
          found.data?.pages.at(-1)?.answer.pagination?.partial === true &&
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

/** Whether facets are shown. The browser remembers that of wide windows; in small ones they would hide the list. */
function useFacets() {
  const isWide = useMedia(WIDE);
  const [isKept, keep] = useRemembered('traces.facets', readFacets);
  const [isShown, setShown] = useState(false);
  return { isOpen: isWide ? isKept : isShown, show: isWide ? keep : setShown };
}

/** Turns true a moment after the first rows are drawn: what is loaded then does not delay them. */
function useOnceShown(isDrawn: boolean): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isDrawn) return;
    const timer = setTimeout(() => setShown(true), MOMENT_MS);
    return () => clearTimeout(timer);
  }, [isDrawn]);
  return isShown;
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
  readonly shown: number;
  /** Those that came after the search, which its total lacks. */
  readonly arrived: number;
  readonly total: { readonly totalHits: bigint; readonly totalHitsRelation: string } | undefined;
};

function Count({ shown, arrived, total }: CountProps) {
  const known = Math.max(Number(total?.totalHits ?? 0n) + arrived, shown);
  const hits = `${formatCount(known)}${total?.totalHitsRelation === 'gte' ? ' or more' : ''}`;
  return <>{shown === 0 ? 'No trace matches.' : `${formatCount(shown)} of ${hits} shown`}</>;
}

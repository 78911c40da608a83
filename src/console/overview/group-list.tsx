/** The users or the threads that traces name, with their sums over a range. */

import { useEffect, useMemo, useRef, useState } from 'react';
import {
  type AnalyticsBucket,
  type AnalyticsGrouping,
  AnalyticsInterval,
} from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button, Snippet } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import { formatCost, formatCount, formatDuration } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { useKeys } from '../layout/keys.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { useSession } from '../session/session.tsx';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import { asNumber, capitalized, type GroupProps, type GroupSearch, hasId } from './group-search.ts';
import { tokensOf } from './metrics.ts';
import { RecentGroups } from './recent-groups.tsx';
import { rangeInput } from './series.ts';

/** As many as the api sums up. */
const GROUPS_MAX = 1_000;
const ROWS_AT_ONCE = 100;

type SumSort = Exclude<NonNullable<GroupSearch['sort']>, 'recent'> | 'cost';

const SORTS: Readonly<Record<SumSort, { readonly label: string; readonly of: (bucket: AnalyticsBucket) => number }>> = {
  cost: { label: 'Cost', of: ({ totalCost }) => totalCost?.value ?? -1 },
  traces: { label: 'Traces', of: ({ traces }) => Number(traces ?? 0n) },
  failed: { label: 'Failed traces', of: ({ errors }) => Number(errors ?? 0n) },
  tokens: { label: 'Tokens', of: (bucket) => Number(tokensOf(bucket) ?? -1) },
  duration: { label: 'Duration, p95', of: ({ totalTimeMsP95 }) => Number(totalTimeMsP95?.value ?? -1n) },
};

type GroupListProps = GroupProps & {
  readonly groupBy: AnalyticsGrouping;
  /** How a trace names its group. */
  readonly sent: string;
  readonly onSearch: (change: ChangeOf<GroupSearch>) => void;
};

export function GroupList(props: GroupListProps) {
  const { title, noun, groupBy, sent, search, onSearch, linkOf } = props;
  const { may } = useSession();
  const found = useRangeQuery({
    method: TraceService.method.queryAnalytics,
    range: search,
    input: { interval: AnalyticsInterval.TOTAL, groupBy, limit: GROUPS_MAX },
    toRangeInput: rangeInput,
  });
  const groups = useMemo(
    () => found.data?.answer.buckets.filter(({ group }) => group !== undefined) ?? [],
    [found.data],
  );
  // The last activity is read from the traces themselves.
  const canReadTraces = may('traces:view');
  const isRecent = search.sort === 'recent' && canReadTraces;
  const wanted = (search.q ?? '').trim();
  // By last activity an old one is far down.
  const isListed = !isRecent && groups.some(({ group }) => group === wanted);
  return (
    <Page
      title={title}
      sub={<>The {title.toLowerCase()} named in the metadata of traces.</>}
      actions={<RangePicker search={search} onChange={onSearch} />}
    >
      <div className={page.row}>
        <IdField noun={noun} value={search.q ?? ''} onChange={(q) => onSearch({ q: q || undefined })} />
        <Select
          aria-label="Sorted by"
          value={isRecent ? 'recent' : search.sort === 'recent' ? 'cost' : (search.sort ?? 'cost')}
          options={[
            ...Object.entries(SORTS).map(([name, { label }]) => [name as SumSort | 'recent', label] as const),
            ...(canReadTraces ? [['recent', 'Last activity'] as const] : []),
          ]}
          onChange={(sort) => onSearch({ sort: sort === 'cost' ? undefined : sort })}
        />
        {wanted !== '' && !isListed && <span>Open {linkOf(wanted)}</span>}
      </div>
      <Pending found={found} />
      {found.isSuccess && groups.length === 0 && (
        <div className={`${page.card} ${page.padded}`}>
          <h2>No {noun} in this range</h2>
          <p>
            Send each trace with its {noun}, and the cost, traces and latency of every {noun} are shown here.
          </p>
          <Snippet title="In the body of a trace" code={sent} />
        </div>
      )}
      {groups.length > 0 &&
        (isRecent ? (
          <RecentGroups {...props} groups={groups} wanted={wanted} />
        ) : (
          <GroupRows {...props} groups={groups} wanted={wanted} />
        ))}
      {found.data?.answer.truncated && !isRecent && (
        <p className={page.soft}>
          These are the {formatCount(GROUPS_MAX)} {title.toLowerCase()} with the most traces. To reach the others,
          choose a shorter range{canReadTraces && ', sort by last activity'}, or enter an id.
        </p>
      )}
    </Page>
  );
}

type IdFieldProps = { readonly noun: string; readonly value: string; readonly onChange: (text: string) => void };

function IdField({ noun, value, onChange }: IdFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useKeys('Search', [{ keys: ['/'], label: `Find a ${noun}`, act: () => field.current?.focus() }]);
  return (
    <input
      ref={field}
      className={controls.control}
      type="search"
      aria-label={`Find a ${noun} by id`}
      placeholder={`Id of a ${noun}`}
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

type GroupRowsProps = GroupProps & {
  readonly groups: readonly AnalyticsBucket[];
  readonly wanted: string;
};

function GroupRows({ noun, search, groups, wanted, linkOf }: GroupRowsProps) {
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  const sort = search.sort === undefined || search.sort === 'recent' ? 'cost' : search.sort;
  const rows = useMemo(() => {
    const { of } = SORTS[sort];
    return groups.filter(({ group }) => hasId(group, wanted)).toSorted((one, other) => of(other) - of(one));
  }, [groups, wanted, sort]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are read from the first one on.
  useEffect(() => setShown(ROWS_AT_ONCE), [rows]);
  if (rows.length === 0) return <p role="status">No {noun} of this range has such an id.</p>;
  return (
    <>
      <Table columns={[capitalized(noun), ...['Traces', 'Failed', 'Tokens', 'Cost', 'Duration, p95'].map(asNumber)]}>
        {rows.slice(0, shown).map((bucket) => (
          <tr key={bucket.group}>
            <td dir="auto">{linkOf(bucket.group ?? '')}</td>
            <td className={page.number}>{formatCount(bucket.traces)}</td>
            <td className={page.number}>{formatCount(bucket.errors)}</td>
            <td className={page.number}>{formatCount(tokensOf(bucket))}</td>
            <td className={page.number}>{formatCost(bucket.totalCost?.value)}</td>
            <td className={page.number}>{formatDuration(bucket.totalTimeMsP95?.value)}</td>
          </tr>
        ))}
      </Table>
      <p className={page.row} role="status">
        <span className={page.soft}>
          {formatCount(Math.min(shown, rows.length))} of {formatCount(rows.length)} shown
        </span>
        {shown < rows.length && <Button onClick={() => setShown(shown + ROWS_AT_ONCE)}>Show more</Button>}
      </p>
    </>
  );
}

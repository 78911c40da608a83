/** The users or the threads that traces name, with their sums over a range. */

import type { ReactNode } from 'react';
import {
  type AnalyticsBucket,
  type AnalyticsGrouping,
  AnalyticsInterval,
} from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Snippet } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { type RangeSearch, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangeQuery } from '../traces/range-query.ts';
import { tokensOf } from './metrics.ts';
import { rangeInput } from './series.ts';

const GROUPS_SHOWN = 500;

type GroupListProps = {
  /** In the plural, for example Users. */
  readonly title: string;
  /** The singular. */
  readonly noun: string;
  readonly groupBy: AnalyticsGrouping;
  /** How a trace names its group. */
  readonly sent: string;
  readonly search: RangeSearch;
  readonly onSearch: (search: RangeSearch) => void;
  readonly linkOf: (group: string) => ReactNode;
};

export function GroupList({ title, noun, groupBy, sent, search, onSearch, linkOf }: GroupListProps) {
  const found = useRangeQuery({
    method: TraceService.method.queryAnalytics,
    range: search,
    input: { interval: AnalyticsInterval.TOTAL, groupBy, limit: GROUPS_SHOWN },
    toRangeInput: rangeInput,
  });
  const groups = found.data?.answer.buckets.filter(({ group }) => group !== undefined) ?? [];
  return (
    <Page
      title={title}
      sub={<>The {title.toLowerCase()} that the metadata of traces names.</>}
      actions={<RangePicker search={search} onChange={(part) => onSearch(writeRange({ ...search, ...part }))} />}
    >
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
      {groups.length > 0 && <GroupRows noun={noun} groups={groups} linkOf={linkOf} />}
      {found.data?.answer.truncated && (
        <p className={page.soft}>There are more; this list shows those with the most traces.</p>
      )}
    </Page>
  );
}

type GroupRowsProps = Pick<GroupListProps, 'noun' | 'linkOf'> & { readonly groups: readonly AnalyticsBucket[] };

function GroupRows({ noun, groups, linkOf }: GroupRowsProps) {
  const byCost = groups.toSorted((one, other) => (other.totalCost?.value ?? -1) - (one.totalCost?.value ?? -1));
  return (
    <Table
      columns={[
        `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`,
        { number: 'Traces' },
        { number: 'Failed' },
        { number: 'Tokens' },
        { number: 'Cost' },
        { number: 'Duration, p95' },
      ]}
    >
      {byCost.map((bucket) => (
        <tr key={bucket.group}>
          <td>{linkOf(bucket.group ?? '')}</td>
          <td className={page.number}>{formatCount(bucket.traces)}</td>
          <td className={page.number}>{formatCount(bucket.errors)}</td>
          <td className={page.number}>{formatCount(tokensOf(bucket))}</td>
          <td className={page.number}>{formatCost(bucket.totalCost?.value)}</td>
          <td className={page.number}>{formatDuration(bucket.totalTimeMsP95?.value)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** The users named by traces, with their sums over a range. */

import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type AnalyticsBucket, AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Loading, Snippet } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { tokensOf } from '../overview/metrics.ts';
import { rangeInput } from '../overview/series.ts';
import { type RangeSearch, readBounds, writeRange } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';

const route = getRouteApi('/$slug/users');
const USERS_SHOWN = 500;
const SENT = '"metadata": { "user_id": "ada" }';

export function UserListPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const bounds = useMemo(() => readBounds(search), [search]);
  const found = useQuery(
    TraceService.method.queryAnalytics,
    {
      ...rangeInput(bounds),
      interval: AnalyticsInterval.TOTAL,
      groupBy: AnalyticsGrouping.USER_ID,
      limit: USERS_SHOWN,
    },
    { placeholderData: keepPreviousData },
  );
  const users = found.data?.buckets.filter(({ group }) => group !== undefined) ?? [];
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Users</h1>
          <p className={page.sub}>The users that the metadata of traces names.</p>
        </div>
        <RangePicker
          search={search}
          onChange={(part) => void navigate({ search: writeRange({ ...search, ...part }), replace: true })}
        />
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.isSuccess && users.length === 0 && (
        <div className={`${page.card} ${page.padded}`}>
          <h2>No user in this range</h2>
          <p>Send each trace with its user, and the cost, traces and latency of every user are shown here.</p>
          <Snippet title="In the body of a trace" code={SENT} />
        </div>
      )}
      {users.length > 0 && <UserTable users={users} range={search} />}
      {found.data?.truncated && <p className={page.soft}>There are more; these have the most traces.</p>}
    </div>
  );
}

type UserTableProps = { readonly users: readonly AnalyticsBucket[]; readonly range: RangeSearch };

function UserTable({ users, range }: UserTableProps) {
  const { slug } = route.useParams();
  const byCost = users.toSorted((one, other) => (other.totalCost?.value ?? -1) - (one.totalCost?.value ?? -1));
  return (
    <div className={`${page.card} ${page.scroll}`}>
      <Table
        columns={[
          'User',
          { number: 'Traces' },
          { number: 'Failed' },
          { number: 'Tokens' },
          { number: 'Cost' },
          { number: 'Duration }, { number: p95' },
        ]}
      >
        {byCost.map((user) => (
          <tr key={user.group}>
            <td>
              <Link to="/$slug/users/$userId" params={{ slug, userId: user.group ?? '' }} search={range}>
                <bdi>{nameControls(user.group ?? '')}</bdi>
              </Link>
            </td>
            <td className={page.number}>{formatCount(user.traces)}</td>
            <td className={page.number}>{formatCount(user.errors)}</td>
            <td className={page.number}>{formatCount(tokensOf(user))}</td>
            <td className={page.number}>{formatCost(user.totalCost?.value)}</td>
            <td className={page.number}>{formatDuration(user.totalTimeMsP95?.value)}</td>
          </tr>
        ))}{' '}
      </Table>
    </div>
  );
}

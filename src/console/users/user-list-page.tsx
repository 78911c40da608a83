/** Whom traces name as their user, and what each comes to in a range. */

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
import { tokensOf } from '../overview/series.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { periodOf, type RangeSearch, writeRange } from './period.ts';

const route = getRouteApi('/$slug/users');
const USERS_SHOWN = 500;
const SENT = '"metadata": { "user_id": "ada" }';

export function UserListPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const period = useMemo(() => periodOf(search, Date.now()), [search]);
  const found = useQuery(
    TraceService.method.queryAnalytics,
    {
      from: BigInt(period.fromMs),
      to: BigInt(period.toMs),
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
          <p className={page.sub}>Whom the metadata of traces names as their user.</p>
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
          <p>Name the user of a trace where it is sent, and what each costs, asks and waits for stands here.</p>
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
  const dearestFirst = users.toSorted((one, other) => (other.totalCost?.value ?? -1) - (one.totalCost?.value ?? -1));
  return (
    <div className={`${page.card} ${page.scroll}`}>
      <table className={page.table}>
        <thead>
          <tr>
            <th scope="col">User</th>
            {['Traces', 'Failed', 'Tokens', 'Cost', 'Duration, p95'].map((label) => (
              <th key={label} scope="col" className={page.number}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {dearestFirst.map((user) => (
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
          ))}
        </tbody>
      </table>
    </div>
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import type { AnalyticsBucket } from '../../../gen/spandrel/v1/analytics_pb.js';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { writeQueryLine } from '../traces/query-line.ts';
import type { TraceListSearch } from '../traces/search.ts';
import styles from './overview.module.css';
import type { GroupName } from './search.ts';
import { tokensOf } from './series.ts';

const route = getRouteApi('/$slug/overview');

const LABELS: Readonly<Record<GroupName, string>> = {
  model: 'Model',
  user: 'User',
  customer: 'Customer',
  label: 'Label',
};

type GroupTableProps = {
  readonly by: GroupName;
  readonly range: TraceListSearch;
  readonly buckets: readonly AnalyticsBucket[];
  readonly truncated: boolean;
  readonly onBy: (by: GroupName) => void;
};

/** The sums of the range for each model, user, customer or label; the dearest first. */
export function GroupTable({ by, range, buckets, truncated, onBy }: GroupTableProps) {
  const { slug } = route.useParams();
  const dearestFirst = buckets.toSorted((one, other) => (other.totalCost?.value ?? -1) - (one.totalCost?.value ?? -1));
  return (
    <section className={page.card}>
      <div className={`${page.head} ${styles.tableHead}`}>
        <h2>By {LABELS[by].toLowerCase()}</h2>
        <select
          className={styles.select}
          aria-label="Told apart by"
          value={by}
          onChange={({ target }) => onBy(target.value as GroupName)}
        >
          {Object.entries(LABELS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div className={page.scroll}>
        <table className={page.table}>
          <thead>
            <tr>
              <th scope="col">{LABELS[by]}</th>
              {['Traces', 'Errors', 'Tokens', 'Cost', 'Duration, p95'].map((label) => (
                <th key={label} scope="col" className={page.number}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {dearestFirst.map((bucket) => (
              <tr key={bucket.group ?? ''}>
                <td>
                  {bucket.group === undefined ? (
                    <span className={page.soft}>none</span>
                  ) : (
                    <Link
                      to="/$slug/traces"
                      params={{ slug }}
                      search={{
                        ...range,
                        q: writeQueryLine({ text: '', filters: [{ name: by, value: bucket.group }] }),
                      }}
                    >
                      <bdi>{nameControls(bucket.group)}</bdi>
                    </Link>
                  )}
                </td>
                <td className={page.number}>{formatCount(bucket.traces)}</td>
                <td className={page.number}>{formatCount(bucket.errors)}</td>
                <td className={page.number}>{formatCount(tokensOf(bucket))}</td>
                <td className={page.number}>{formatCost(bucket.totalCost?.value)}</td>
                <td className={page.number}>{formatDuration(bucket.totalTimeMsP95?.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {truncated && <p className={page.padded}>There are more; these have the most traces.</p>}
    </section>
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import type { AnalyticsBucket } from '../../../gen/spandrel/v1/analytics_pb.js';
import { Select } from '../design/form.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { BareTable } from '../design/table.tsx';
import { type Filter, writeQueryLine } from '../traces/query-line.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { tokensOf } from './metrics.ts';
import styles from './overview.module.css';
import type { GroupName } from './search.ts';

const route = getRouteApi('/$slug/overview');

const LABELS: Readonly<Record<GroupName, string>> = {
  model: 'Model',
  user: 'User',
  customer: 'Customer',
  label: 'Label',
};
const CHOICES = Object.entries(LABELS) as [GroupName, string][];

const FAILED: Filter = { name: 'error', value: 'true' };

type GroupTableProps = {
  readonly by: GroupName;
  readonly range: TraceListSearch;
  readonly buckets: readonly AnalyticsBucket[];
  readonly truncated: boolean;
  readonly onBy: (by: GroupName) => void;
};

/** The sums per model, user, customer or label, by descending cost. */
export function GroupTable({ by, range, buckets, truncated, onBy }: GroupTableProps) {
  const { slug } = route.useParams();
  const find = (value: string, ...filters: readonly Filter[]) => ({
    ...range,
    q: writeQueryLine({ text: '', filters: [{ name: by, value }, ...filters] }),
  });
  const byCost = buckets.toSorted((one, other) => (other.totalCost?.value ?? -1) - (one.totalCost?.value ?? -1));
  return (
    <section className={page.card}>
      <div className={`${page.head} ${styles.tableHead}`}>
        <h2>By {LABELS[by].toLowerCase()}</h2>
        <Select aria-label="Group by" value={by} options={CHOICES} onChange={onBy} />
      </div>
      <div className={page.scroll}>
        <BareTable
          columns={[
            LABELS[by],
            { number: 'Traces' },
            { number: by === 'model' ? 'Failed spans' : 'Failed traces' },
            { number: 'Tokens' },
            { number: 'Cost' },
            { number: 'Duration, p95' },
          ]}
        >
          {byCost.map((bucket) => (
            <tr key={bucket.group ?? ''}>
              <td>
                {bucket.group === undefined ? (
                  <span className={page.soft}>none</span>
                ) : (
                  <Link to="/$slug/traces" params={{ slug }} search={find(bucket.group)}>
                    <bdi>{nameControls(bucket.group)}</bdi>
                  </Link>
                )}
              </td>
              <td className={page.number}>{formatCount(bucket.traces)}</td>
              <td className={page.number}>
                {/* The errors of a model are spans, so no search finds as many traces. */}
                {bucket.group === undefined || by === 'model' || !bucket.errors ? (
                  formatCount(bucket.errors)
                ) : (
                  <Link to="/$slug/traces" params={{ slug }} search={find(bucket.group, FAILED)}>
                    {formatCount(bucket.errors)}
                  </Link>
                )}
              </td>
              <td className={page.number}>{formatCount(tokensOf(bucket))}</td>
              <td className={page.number}>{formatCost(bucket.totalCost?.value)}</td>
              <td className={page.number}>{formatDuration(bucket.totalTimeMsP95?.value)}</td>
            </tr>
          ))}
        </BareTable>
      </div>
      {by === 'model' && (
        <p className={`${page.soft} ${styles.note}`}>
          A model’s row counts only its own spans. Failures of tools and other spans belong to no model, and a trace
          with several models counts in each row, so the rows do not add up to the totals above.
        </p>
      )}
      {truncated && <p className={page.padded}>There are more; this list shows those with the most traces.</p>}
    </section>
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import type { AnalyticsBucket } from '../../../gen/spandrel/v1/analytics_pb.js';
import { Loading } from '../design/button.tsx';
import { Select } from '../design/form.tsx';
import { formatCost, formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { BareTable } from '../design/table.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { type Filter, writeQueryLine } from '../traces/query-line.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { LABELS, tokensOf } from './metrics.ts';
import styles from './overview.module.css';
import { PairTable } from './pair-table.tsx';
import type { GroupName, OverviewSearch } from './search.ts';

const route = getRouteApi('/$slug/overview');

const CHOICES = Object.entries(LABELS) as [GroupName, string][];

const FAILED: Filter = { name: 'error', value: 'true' };

type GroupTableProps = {
  readonly by: GroupName;
  /** The second dimension. */
  readonly and: GroupName | undefined;
  readonly range: TraceListSearch;
  /** Undefined while those that are known are of another range, or grouped by something else. */
  readonly found: { readonly buckets: readonly AnalyticsBucket[]; readonly truncated: boolean } | undefined;
  readonly onChange: (change: ChangeOf<Pick<OverviewSearch, 'by' | 'and'>>) => void;
};

/** The sums per model, user, customer, label or prompt, by descending cost. */
export function GroupTable({ by, and, range, found, onChange }: GroupTableProps) {
  const byCost = found?.buckets.toSorted((one, other) => (other.totalCost?.value ?? -1) - (one.totalCost?.value ?? -1));
  return (
    <section className={page.card} aria-busy={byCost === undefined}>
      <div className={`${page.head} ${styles.tableHead}`}>
        <h2>
          By {LABELS[by].toLowerCase()}
          {and !== undefined && ` and ${LABELS[and].toLowerCase()}`}
        </h2>
        <div className={page.row}>
          <Select
            aria-label="Group by"
            value={by}
            options={CHOICES}
            onChange={(next) => onChange({ by: next === 'model' ? undefined : next, and: undefined })}
          />
          <Select
            aria-label="And by"
            value={and ?? 'none'}
            options={[
              ['none', 'Nothing else'] as const,
              ...CHOICES.filter(([name]) => name !== by).map(([name, label]) => [name, `And ${label}`] as const),
            ]}
            onChange={(next) => onChange({ and: next === 'none' ? undefined : next })}
          />
        </div>
      </div>
      {byCost === undefined && <Loading />}
      {byCost && and !== undefined && <PairTable by={by} and={and} range={range} rows={byCost} />}
      {byCost && and === undefined && <Groups by={by} range={range} rows={byCost} />}
      {by === 'model' && (
        <p className={`${page.soft} ${styles.note}`}>
          A model’s row counts only its own spans. Failures of tools and other spans belong to no model, and a trace
          with several models counts in each row, so the rows do not add up to the totals above.
        </p>
      )}
      {(by === 'prompt' || by === 'prompt-version') && (
        <p className={`${page.soft} ${styles.note}`}>
          A trace counts as a whole for each prompt that a span of it names, so the rows need not add up to the totals
          above.
        </p>
      )}
      {found?.truncated && <p className={page.padded}>There are more; this list shows those with the most traces.</p>}
    </section>
  );
}

type GroupsProps = Pick<GroupTableProps, 'by' | 'range'> & { readonly rows: readonly AnalyticsBucket[] };

function Groups({ by, range, rows }: GroupsProps) {
  const { slug } = route.useParams();
  const find = (value: string, ...filters: readonly Filter[]) => ({
    ...range,
    q: writeQueryLine({ text: '', filters: [{ name: by, value }, ...filters] }),
  });
  return (
    <div className={page.scroll}>
      <BareTable
        columns={[
          LABELS[by],
          { number: 'Traces' },
          { number: by === 'model' ? 'Failed spans' : 'Failed traces' },
          { number: 'Tokens' },
          { number: 'Cost' },
        ]}
      >
        {rows.map((bucket) => (
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
          </tr>
        ))}
      </BareTable>
    </div>
  );
}

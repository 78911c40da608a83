/** The cost by two dimensions, for example by model and label. */

import { callUnaryMethod, useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type AnalyticsBucket, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { formatCost, formatCount, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { BareTable } from '../design/table.tsx';
import { useProject } from '../session/session.tsx';
import { writeQueryLine } from '../traces/query-line.ts';
import { readBounds } from '../traces/range.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { GROUPINGS, LABELS } from './metrics.ts';
import { MODEL_TRACES_MAX, pairKey } from './query-keys.ts';
import type { GroupName } from './search.ts';
import { rangeInput } from './series.ts';

const route = getRouteApi('/$slug/overview');

/** Each column is a query. */
const COLUMNS_SHOWN = 6;
const ROWS_SHOWN = 12;
const GROUPS_MAX = 200;
const METRICS = 'traces,total_cost';

type PairTableProps = {
  readonly by: GroupName;
  readonly and: GroupName;
  readonly range: TraceListSearch;
  /** The groups of `by` over the whole range, by descending cost. */
  readonly rows: readonly AnalyticsBucket[];
};

type Column = { readonly group: string; readonly cells: ReadonlyMap<string, AnalyticsBucket> };

/** The condition of a query on a group. */
const conditionOf = (name: GroupName, value: string) =>
  ({
    ...{ model: { model: value }, user: { userId: value }, customer: { customerId: value }, label: { label: value } },
    ...{ prompt: { promptId: value }, 'prompt-version': { promptVersion: value } },
  })[name];

export function PairTable({ by, and, range, rows }: PairTableProps) {
  const { slug } = route.useParams();
  const transport = useTransport();
  const traces = rows.reduce((sum, bucket) => sum + Number(bucket.traces ?? 0n), 0);
  const isTooMuch = [by, and].includes('model') && traces > MODEL_TRACES_MAX;
  const project = useProject();
  const found = useQuery({
    queryKey: pairKey(project.id, range, { by, and }),
    enabled: !isTooMuch,
    async queryFn({ signal }): Promise<readonly Column[]> {
      const whole = { ...rangeInput(readBounds(range)), interval: AnalyticsInterval.TOTAL, metrics: METRICS };
      const ask = (input: object) =>
        callUnaryMethod(transport, TraceService.method.queryAnalytics, { ...whole, ...input }, { signal });
      const { buckets } = await ask({ groupBy: GROUPINGS[and], limit: GROUPS_MAX });
      const dearest = buckets
        .filter(({ group }) => group !== undefined)
        .toSorted((one, other) => (other.totalCost?.value ?? 0) - (one.totalCost?.value ?? 0))
        .slice(0, COLUMNS_SHOWN);
      const columns: Column[] = [];
      // One after the other: the server sums up for all projects.
      for (const { group = '' } of dearest) {
        const part = await ask({ groupBy: GROUPINGS[by], limit: GROUPS_MAX, ...conditionOf(and, group) });
        columns.push({ group, cells: new Map(part.buckets.map((bucket) => [bucket.group ?? '', bucket])) });
      }
      return columns;
    },
  });
  if (isTooMuch) {
    return (
      <p className={page.padded}>
        More than {formatCount(MODEL_TRACES_MAX)} traces are too many to sum up by model and something else. Choose a
        shorter range.
      </p>
    );
  }
  if (!found.data) {
    return (
      <div className={page.padded}>
        <Pending found={found} />
      </div>
    );
  }
  if (found.data.length === 0)
    return <p className={page.padded}>No trace of this range has a {LABELS[and].toLowerCase()}.</p>;
  return (
    <div className={page.scroll}>
      <BareTable
        caption={`Cost by ${LABELS[by].toLowerCase()} and ${LABELS[and].toLowerCase()}`}
        columns={[LABELS[by], ...found.data.map(({ group }) => ({ number: nameControls(group) }))]}
      >
        {rows.slice(0, ROWS_SHOWN).map(({ group }) => (
          <tr key={group ?? ''}>
            <th scope="row">{group === undefined ? <span className={page.soft}>none</span> : nameControls(group)}</th>
            {found.data.map((column) => {
              const cell = column.cells.get(group ?? '');
              const filters = [
                { name: by, value: group ?? '' },
                { name: and, value: column.group },
              ];
              const search = { ...range, q: writeQueryLine({ text: '', filters }) };
              return (
                <td key={column.group} className={page.number}>
                  {cell === undefined ? (
                    NONE
                  ) : group === undefined ? (
                    formatCost(cell.totalCost?.value)
                  ) : (
                    <Link to="/$slug/traces" params={{ slug }} search={search}>
                      {formatCost(cell.totalCost?.value)}
                    </Link>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </BareTable>
    </div>
  );
}

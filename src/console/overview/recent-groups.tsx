/** Users or threads by their last activity, which the traces tell, newest first. They can be read to the last one. */

import { useMemo } from 'react';
import type { AnalyticsBucket } from '../../../gen/spandrel/v1/analytics_pb.js';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../design/button.tsx';
import { formatCost, formatCount, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useRangePages } from '../traces/range-query.ts';
import { toRangeInput } from '../traces/search-input.ts';
import { metadataOf } from '../traces/trace-facts.ts';
import { asNumber, capitalized, type GroupProps, hasId } from './group-search.ts';

const TRACES_PER_PAGE = 200;
const INPUT_CHARACTERS = 160;

type RecentGroupsProps = GroupProps & {
  /** The sums of those with the most traces. */
  readonly groups: readonly AnalyticsBucket[];
  readonly wanted: string;
};

export function RecentGroups({ noun, title, field, search, linkOf, groups, wanted }: RecentGroupsProps) {
  const found = useRangePages({
    method: TraceService.method.searchTraces,
    range: search,
    input: { filters: [{ name: 'metadata.key', values: [field] }], pageSize: TRACES_PER_PAGE },
    toRangeInput,
    nextPageToken: ({ pagination }) => pagination?.nextPageToken,
  });
  const newest = useMemo(() => {
    const traces = found.data?.pages.flatMap(({ answer }) =>
      answer.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])),
    );
    return newestOf(traces ?? [], field);
  }, [found.data, field]);
  const sums = useMemo(() => new Map(groups.map((bucket) => [bucket.group, bucket])), [groups]);
  const rows = [...newest].filter(([id]) => hasId(id, wanted));
  if (!found.data) return <Pending found={found} />;
  return (
    <>
      {rows.length > 0 && (
        <Table
          columns={[capitalized(noun), 'Last activity', 'Last input', ...['Traces', 'Failed', 'Cost'].map(asNumber)]}
        >
          {rows.map(([id, trace]) => {
            const sum = sums.get(id);
            return (
              <tr key={id}>
                <td dir="auto">{linkOf(id)}</td>
                <InstantCell at={trace.timestamps?.startedAt} as="short" />
                <td dir="auto">{nameControls((trace.input?.value ?? '').slice(0, INPUT_CHARACTERS)) || NONE}</td>
                <td className={page.number}>{formatCount(sum?.traces)}</td>
                <td className={page.number}>{formatCount(sum?.errors)}</td>
                <td className={page.number}>{formatCost(sum?.totalCost?.value)}</td>
              </tr>
            );
          })}
        </Table>
      )}
      <p className={page.row} role="status">
        <span className={page.soft}>
          {rows.length === 0
            ? `No ${noun} among those read so far has such an id.`
            : `${formatCount(rows.length)} shown`}
          {found.hasNextPage && `; older ${title.toLowerCase()} are not read yet`}
        </span>
        {found.hasNextPage && (
          <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Show more
          </Button>
        )}
      </p>
    </>
  );
}

/** The newest trace of each; the traces come newest first. */
function newestOf(traces: readonly Trace[], field: GroupProps['field']): ReadonlyMap<string, Trace> {
  const newest = new Map<string, Trace>();
  for (const trace of traces) {
    const { user, thread } = metadataOf(trace);
    const id = field === 'user_id' ? user : thread;
    if (id !== undefined && !newest.has(id)) newest.set(id, trace);
  }
  return newest;
}

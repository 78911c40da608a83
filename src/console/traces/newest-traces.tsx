/** The newest traces of a search; the list of traces has all of them. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type SearchTracesRequestSchema, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { withNamedRange } from './range.ts';
import type { TraceListSearch } from './search.ts';
import { verdictOf } from './trace-facts.ts';

const TRACES_SHOWN = 20;
const INPUT_CHARACTERS = 160;

type NewestTracesProps = {
  readonly slug: string;
  /** The same search in the trace list. */
  readonly search: TraceListSearch;
  readonly input: Pick<
    Exclude<MessageInitShape<typeof SearchTracesRequestSchema>, { $typeName: string }>,
    'filters' | 'startDate' | 'endDate'
  >;
};

export function NewestTraces({ slug, search, input }: NewestTracesProps) {
  const found = useQuery(TraceService.method.searchTraces, { ...input, pageSize: TRACES_SHOWN });
  if (!found.isSuccess) return <Pending found={found} />;
  const traces = found.data.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : []));
  const total = found.data.pagination?.totalHits;
  if (traces.length === 0) return null;
  return (
    <Table
      columns={['Began', 'Name', 'Input', 'Evaluations', { number: 'Cost' }, { number: 'Duration' }]}
      caption={
        <>
          Newest traces ·{' '}
          <Link to="/$slug/traces" params={{ slug }} search={withNamedRange(search)} className={page.underlined}>
            all {formatCount(total)} of them
          </Link>
        </>
      }
    >
      {traces.map((trace) => {
        const verdict = verdictOf(trace);
        return (
          <tr key={trace.traceId}>
            <InstantCell at={trace.timestamps?.startedAt} as="short" />
            <td>
              {trace.error && <Badge tone="bad">Failed</Badge>}{' '}
              <Link to="/$slug/traces/$traceId" params={{ slug, traceId: trace.traceId }}>
                {nameControls(trace.name) || trace.traceId}
              </Link>
            </td>
            <td dir="auto">{nameControls((trace.input?.value ?? '').slice(0, INPUT_CHARACTERS)) || NONE}</td>
            <td>{verdict && <Badge tone={verdict.tone}>{verdict.text}</Badge>}</td>
            <td className={page.number}>{formatCost(trace.metrics?.totalCost)}</td>
            <td className={page.number}>{formatDuration(trace.metrics?.totalTimeMs)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Selects traces for an action, with the filters of the trace list, and shows their number. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { type SearchTracesRequestSchema, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import type { Call } from '../design/form.tsx';
import { formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import type { ChangeOf } from '../layout/search.ts';
import { FilterBar } from './filter-bar.tsx';
import { withNamedRange } from './range.ts';
import { RangePicker } from './range-picker.tsx';
import type { FinderSearch } from './search.ts';
import { toSearchInput } from './search-input.ts';

type TraceFinderProps = {
  readonly slug: string;
  readonly search: FinderSearch;
  readonly onChange: (change: ChangeOf<FinderSearch>) => void;
  readonly action: string;
  readonly call: Call;
  readonly disabled?: boolean;
  readonly onAct: (input: ReturnType<typeof toSearchInput>) => void;
  readonly children: ReactNode;
};

export function TraceFinder({ slug, search, onChange, action, call, disabled, onAct, children }: TraceFinderProps) {
  const { q, range, from, to, not } = search;
  const input = useMemo<MessageInitShape<typeof SearchTracesRequestSchema>>(
    () => ({ ...toSearchInput({ q, range, from, to, not }), pageSize: 1 }),
    [q, range, from, to, not],
  );
  const found = useQuery(TraceService.method.searchTraces, input, { placeholderData: keepPreviousData });
  // While a new search is loading, the number is that of the one before.
  const total = found.isPlaceholderData ? undefined : found.data?.pagination;
  return (
    <div className={`${page.card} ${page.padded}`}>
      {children}
      <div>
        <RangePicker search={search} onChange={onChange} />
      </div>
      <FilterBar search={search} onChange={onChange} />
      {(found.error ?? call.error) != null && <FailureNotice error={found.error ?? call.error} />}
      <div className={page.row}>
        <Button
          variant="primary"
          disabled={disabled || call.isPending || !total || total.totalHits === 0n}
          onClick={() => onAct(toSearchInput(search))}
        >
          {action}
        </Button>
        <span role="status">
          {found.isPlaceholderData && 'Searching…'}
          {total &&
            `${formatCount(total.totalHits)}${total.totalHitsRelation === 'gte' ? ' or more' : ''} traces match.`}
        </span>
        <Link to="/$slug/traces" params={{ slug }} search={withNamedRange(search)}>
          Show these traces
        </Link>
      </div>
    </div>
  );
}

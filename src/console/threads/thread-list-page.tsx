import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ThreadService } from '../../../gen/spandrel/v1/threads_pb.js';
import { nameControls } from '../design/format.ts';
import type { GroupSearch } from '../overview/group-search.ts';
import { rangeInput } from '../overview/series.ts';
import { useRangePages } from '../traces/range-query.ts';
import { Inbox, rowsOf, toListInput } from './inbox.tsx';

const route = getRouteApi('/$slug/threads');

export default function ThreadListPage() {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useRangePages({
    method: ThreadService.method.listThreads,
    range: search,
    input: toListInput(search),
    toRangeInput: rangeInput,
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  const rows = useMemo(() => rowsOf(found.data?.pages.flatMap(({ answer }) => answer.threads) ?? []), [found.data]);
  return (
    <Inbox
      title="Threads"
      noun="thread"
      sent='"metadata": { "thread_id": "order-1042" }'
      search={search}
      onSearch={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as GroupSearch, replace: true })}
      rows={rows}
      isPartial={found.data?.pages.some(({ answer }) => answer.partial) ?? false}
      found={found}
      linkOf={(threadId) => (
        <Link to="/$slug/threads/$threadId" params={{ slug, threadId }} search={search} preload={false}>
          <bdi>{nameControls(threadId)}</bdi>
        </Link>
      )}
    />
  );
}

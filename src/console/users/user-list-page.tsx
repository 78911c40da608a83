import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ThreadService } from '../../../gen/spandrel/v1/threads_pb.js';
import { nameControls } from '../design/format.ts';
import type { GroupSearch } from '../overview/group-search.ts';
import { rangeInput } from '../overview/series.ts';
import { Inbox, rowsOf, toListInput } from '../threads/inbox.tsx';
import { useRangePages } from '../traces/range-query.ts';

const route = getRouteApi('/$slug/users');

export default function UserListPage() {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useRangePages({
    method: ThreadService.method.listUsers,
    range: search,
    input: toListInput(search),
    toRangeInput: rangeInput,
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  const rows = useMemo(() => rowsOf(found.data?.pages.flatMap(({ answer }) => answer.users) ?? []), [found.data]);
  return (
    <Inbox
      title="Users"
      noun="user"
      sent='"metadata": { "user_id": "ada" }'
      search={search}
      onSearch={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as GroupSearch, replace: true })}
      rows={rows}
      isPartial={found.data?.pages.some(({ answer }) => answer.partial) ?? false}
      found={found}
      linkOf={(userId) => (
        <Link to="/$slug/users/$userId" params={{ slug, userId }} search={search}>
          <bdi>{nameControls(userId)}</bdi>
        </Link>
      )}
    />
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import { AnalyticsGrouping } from '../../../gen/spandrel/v1/analytics_pb.js';
import { nameControls } from '../design/format.ts';
import { GroupList } from '../overview/group-list.tsx';
import type { GroupSearch } from '../overview/group-search.ts';

const route = getRouteApi('/$slug/threads');

export default function ThreadListPage() {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <GroupList
      title="Threads"
      noun="thread"
      groupBy={AnalyticsGrouping.THREAD_ID}
      field="thread_id"
      sent='"metadata": { "thread_id": "order-1042" }'
      search={search}
      onSearch={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as GroupSearch, replace: true })}
      linkOf={(threadId) => (
        <Link to="/$slug/threads/$threadId" params={{ slug, threadId }} search={search} preload={false}>
          <bdi>{nameControls(threadId)}</bdi>
        </Link>
      )}
    />
  );
}

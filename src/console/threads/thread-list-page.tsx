import { getRouteApi } from '@tanstack/react-router';
import { AnalyticsGrouping } from '../../../gen/spandrel/v1/analytics_pb.js';
import { nameControls } from '../design/format.ts';
import { GroupList } from '../overview/group-list.tsx';
import { ThreadLink } from '../traces/metadata-links.tsx';

const route = getRouteApi('/$slug/threads');

export default function ThreadListPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <GroupList
      title="Threads"
      noun="thread"
      groupBy={AnalyticsGrouping.THREAD_ID}
      sent='"metadata": { "thread_id": "order-1042" }'
      search={search}
      onSearch={(next) => void navigate({ search: next, replace: true })}
      linkOf={(thread) => (
        <ThreadLink thread={thread}>
          <bdi>{nameControls(thread)}</bdi>
        </ThreadLink>
      )}
    />
  );
}

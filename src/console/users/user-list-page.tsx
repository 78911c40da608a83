import { getRouteApi, Link } from '@tanstack/react-router';
import { AnalyticsGrouping } from '../../../gen/spandrel/v1/analytics_pb.js';
import { nameControls } from '../design/format.ts';
import { GroupList } from '../overview/group-list.tsx';
import type { GroupSearch } from '../overview/group-search.ts';

const route = getRouteApi('/$slug/users');

export default function UserListPage() {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <GroupList
      title="Users"
      noun="user"
      groupBy={AnalyticsGrouping.USER_ID}
      field="user_id"
      sent='"metadata": { "user_id": "ada" }'
      search={search}
      onSearch={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as GroupSearch, replace: true })}
      linkOf={(userId) => (
        <Link to="/$slug/users/$userId" params={{ slug, userId }} search={search}>
          <bdi>{nameControls(userId)}</bdi>
        </Link>
      )}
    />
  );
}

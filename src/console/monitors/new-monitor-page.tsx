import { useMutation } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import { emptyDraft, toMonitor } from './draft.ts';
import { MonitorForm } from './monitor-form.tsx';

const route = getRouteApi('/$slug/monitors/new');

export function NewMonitorPage() {
  const { slug } = route.useParams();
  const { evaluator = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const refresh = useRefresh();
  const create = useMutation(MonitorService.method.createMonitor, {
    async onSuccess() {
      await refresh();
      await navigate({ to: '/$slug/monitors', params: { slug } });
    },
  });
  return (
    <div className={page.page}>
      <Link to="/$slug/monitors" params={{ slug }} className={page.soft}>
        ‹ Monitors
      </Link>
      <div>
        <h1>New monitor</h1>
        <p className={page.sub}>It evaluates traces that are stored after it was created.</p>
      </div>
      <MonitorForm
        key={evaluator}
        start={emptyDraft(evaluator)}
        action="Create the monitor"
        pending={create.isPending}
        error={create.error}
        onSubmit={(draft) => create.mutate(toMonitor(draft))}
      />
    </div>
  );
}

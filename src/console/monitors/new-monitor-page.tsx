import { useMutation } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import page from '../design/page.module.css';
import { Page } from '../design/page.tsx';
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
    <Page
      back={
        <Link to="/$slug/monitors" params={{ slug }} className={page.soft}>
          ‹ Monitors
        </Link>
      }
      title="New monitor"
      sub="It evaluates traces that are stored after it was created."
    >
      <MonitorForm
        key={evaluator}
        start={emptyDraft(evaluator)}
        action="Create the monitor"
        pending={create.isPending}
        error={create.error}
        onSubmit={(draft) => create.mutate(toMonitor(draft))}
      />
    </Page>
  );
}

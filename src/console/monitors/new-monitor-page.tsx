import { getRouteApi } from '@tanstack/react-router';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { Back, Page } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { emptyDraft, toMonitor } from './draft.ts';
import { MonitorForm } from './monitor-form.tsx';

const route = getRouteApi('/$slug/monitors/new');

export default function NewMonitorPage() {
  const { slug } = route.useParams();
  const { evaluator = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const create = useChange(MonitorService.method.createMonitor, () =>
    navigate({ to: '/$slug/monitors', params: { slug } }),
  );
  return (
    <Page
      back={<Back to="/$slug/monitors" params={{ slug }} label="Monitors" />}
      title="New monitor"
      sub="It evaluates traces that arrive after it was created."
    >
      <MonitorForm
        key={evaluator}
        start={emptyDraft(evaluator)}
        action="Create the monitor"
        call={create}
        onSubmit={(draft) => create.mutate(toMonitor(draft))}
      />
    </Page>
  );
}

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { buttonClass } from '../design/button.tsx';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';
import { Backlog } from './backlog.tsx';
import { MonitorTable, ScoredMonitorTable } from './monitor-table.tsx';

const route = getRouteApi('/$slug/monitors');

export default function MonitorListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(MonitorService.method.listMonitors);
  return (
    <Page
      title="Monitors"
      sub="Evaluators that run automatically on the traces of this project."
      actions={
        may('evaluations:manage') && (
          <Link to="/$slug/monitors/new" params={{ slug }} className={buttonClass('primary')}>
            New monitor
          </Link>
        )
      }
    >
      <Pending found={found} />
      {found.data?.monitors.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No monitor yet</h2>
          <p>
            A monitor runs a saved evaluator on new traces, or on a sample of them, and stores the result on the trace.
            Your application does not wait for it.
          </p>
          <Link to="/$slug/evaluators" params={{ slug }}>
            Create an evaluator first
          </Link>
        </div>
      )}
      {found.data && found.data.monitors.length > 0 && (
        <>
          <Backlog />
          {may('analytics:view') ? (
            <ScoredMonitorTable monitors={found.data.monitors} />
          ) : (
            <MonitorTable monitors={found.data.monitors} scores={null} />
          )}
        </>
      )}
    </Page>
  );
}

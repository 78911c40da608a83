import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { buttonClass, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';
import { Backlog } from './backlog.tsx';
import { MonitorTable, ScoredMonitorTable } from './monitor-table.tsx';

const route = getRouteApi('/$slug/monitors');

export function MonitorListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(MonitorService.method.listMonitors);
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Monitors</h1>
          <p className={page.sub}>Evaluators that run by themselves on the traces of this project.</p>
        </div>
        {may('evaluations:manage') && (
          <Link to="/$slug/monitors/new" params={{ slug }} className={buttonClass('primary')}>
            New monitor
          </Link>
        )}
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data?.monitors.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No monitor yet</h2>
          <p>
            A monitor runs a saved evaluator on each trace as it comes in, or on a share of them, and puts the result on
            the trace. Nothing waits for it.
          </p>
          <Link to="/$slug/evaluators" params={{ slug }}>
            First an evaluator has to be there
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
    </div>
  );
}

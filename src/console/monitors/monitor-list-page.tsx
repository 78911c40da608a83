import { useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { type Monitor, MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { Badge, Button, buttonClass, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { toPercent } from './draft.ts';
import { formatConditions, modeName } from './monitor-enums.ts';

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
      {found.data && found.data.monitors.length > 0 && <MonitorTable monitors={found.data.monitors} />}
    </div>
  );
}

function MonitorTable({ monitors }: { readonly monitors: readonly Monitor[] }) {
  const { slug } = route.useParams();
  const { may } = useSession();
  const refresh = useRefresh();
  const evaluators = useQuery(EvaluatorService.method.listEvaluators);
  const toggle = useMutation(MonitorService.method.toggleMonitor, { onSuccess: refresh });
  const nameOf = (id: string | undefined) => evaluators.data?.evaluators.find((each) => each.id === id)?.name;
  return (
    <>
      {toggle.isError && <FailureNotice error={toggle.error} />}
      <div className={`${page.card} ${page.scroll}`}>
        <Table columns={['Name', 'State', 'Evaluator', 'Runs', { number: 'Share' }, 'Conditions', 'Actions']}>
          {monitors.map((monitor) => (
            <tr key={monitor.id}>
              <td>
                <Link to="/$slug/monitors/$monitorId" params={{ slug, monitorId: monitor.id }}>
                  {nameControls(monitor.name ?? monitor.slug)}
                </Link>
              </td>
              <td>
                <Badge tone={monitor.enabled ? 'good' : 'quiet'}>{monitor.enabled ? 'on' : 'off'}</Badge>
              </td>
              <td>{nameControls(nameOf(monitor.evaluatorId) ?? monitor.checkType)}</td>
              <td>{modeName(monitor.executionMode)}</td>
              <td className={page.number}>{toPercent(monitor.sample ?? 1)} %</td>
              <td className={page.mono}>{formatConditions(monitor) || 'any trace'}</td>
              <td>
                {may('evaluations:manage') && (
                  <Button
                    small
                    disabled={toggle.isPending}
                    aria-label={`${monitor.enabled ? 'Disable' : 'Enable'} ${nameControls(monitor.name ?? monitor.slug)}`}
                    onClick={() => toggle.mutate({ idOrSlug: monitor.id, enabled: !monitor.enabled })}
                  >
                    {monitor.enabled ? 'Disable' : 'Enable'}
                  </Button>
                )}
              </td>
            </tr>
          ))}{' '}
        </Table>
      </div>
    </>
  );
}

/** Puts a chart of the overview on a dashboard. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { DashboardService, GraphService } from '../../../gen/spandrel/v1/dashboards_pb.js';
import { Button } from '../design/button.tsx';
import { ModalButton } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Form, SelectField, TextField } from '../design/form.tsx';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { METRICS, type MetricName } from '../overview/metrics.ts';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { PINNED } from './graph-metrics.ts';

const NEW = '';

export function PinButton({ metric }: { readonly metric: MetricName }) {
  const { may } = useSession();
  if (!may('analytics:create')) return null;
  return (
    <ModalButton label="Pin" title={`Pin “${METRICS[metric].label}” to a dashboard`} small>
      {(close) => <Pin metric={metric} onClose={close} />}
    </ModalButton>
  );
}

function Pin({ metric, onClose }: { readonly metric: MetricName; readonly onClose: () => void }) {
  const { slug } = useParams({ from: '/$slug' });
  const found = useQuery(DashboardService.method.listDashboards);
  const refresh = useRefresh();
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState('');
  const [title, setTitle] = useState(METRICS[metric].label);
  const make = useMutation(DashboardService.method.createDashboard);
  const pin = useMutation(GraphService.method.createGraph, { onSuccess: refresh });
  if (!found.data) return <Pending found={found} />;
  const { dashboards } = found.data;
  const dashboardId = chosen ?? dashboards[0]?.id ?? NEW;
  if (pin.isSuccess) {
    return (
      <div className={page.form} role="status">
        <p>
          It is on{' '}
          <Link to="/$slug/dashboards/$dashboardId" params={{ slug, dashboardId: pin.data.graph?.dashboardId ?? '' }}>
            the dashboard
          </Link>{' '}
          now.
        </p>
        <div>
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    );
  }
  async function submit() {
    const made = dashboardId === NEW ? (await make.mutateAsync({ name })).dashboard?.id : dashboardId;
    if (made === undefined) return;
    setChosen(made);
    const { filters = {}, ...series } = PINNED[metric];
    const graph = { graphType: 'line', series: [{ name: title, ...series }], includePrevious: false, timeScale: 1440 };
    await pin.mutateAsync({
      name: title,
      dashboardId: made,
      graphJson: JSON.stringify(graph),
      filtersJson: JSON.stringify(filters),
    });
  }
  const isNew = dashboardId === NEW;
  return (
    <Form
      action="Pin"
      disabled={make.isPending || pin.isPending || title.trim() === '' || (isNew && name.trim() === '')}
      error={make.error ?? pin.error}
      // What failed is shown by the form.
      onSubmit={() => void submit().catch(() => undefined)}
      onCancel={onClose}
    >
      <SelectField
        label="Dashboard"
        value={dashboardId}
        options={[...dashboards.map(({ id, name: each }) => [id, each] as const), [NEW, 'A new dashboard'] as const]}
        onChange={setChosen}
      />
      {isNew && <TextField label="Name of the dashboard" value={name} maxLength={255} onChange={setName} />}
      <TextField label="Name of the graph" value={title} maxLength={255} onChange={setTitle} />
      {found.isError && <FailureNotice error={found.error} />}
    </Form>
  );
}

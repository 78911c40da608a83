/** The dashboards of a project, in their order. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Dashboard, DashboardService } from '../../../gen/spandrel/v1/dashboards_pb.js';
import { Button } from '../design/button.tsx';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { type Call, Form, TextField } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const route = getRouteApi('/$slug/dashboards');
const NAME_CHARACTERS = 255;

export default function DashboardListPage() {
  const { may } = useSession();
  const found = useQuery(DashboardService.method.listDashboards);
  const reorder = useChange(DashboardService.method.reorderDashboards);
  const dashboards = found.data?.dashboards ?? [];
  const move = (from: number, to: number) => {
    const ids = dashboards.map(({ id }) => id);
    ids.splice(to, 0, ...ids.splice(from, 1));
    reorder.mutate({ dashboardIds: ids });
  };
  return (
    <Page
      title="Dashboards"
      sub="Charts that were pinned, for everyone who may see this project."
      actions={may('analytics:create') && <NewDashboard />}
    >
      <Pending found={found} />
      {reorder.isError && <FailureNotice error={reorder.error} />}
      {found.isSuccess && dashboards.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No dashboard yet</h2>
          <p>“Pin” on a chart of the overview puts it on a dashboard.</p>
        </div>
      )}
      {dashboards.length > 0 && (
        <Table columns={['Name', { number: 'Graphs' }, 'Changed', 'Actions']}>
          {dashboards.map((dashboard, index) => (
            <Row
              key={dashboard.id}
              dashboard={dashboard}
              isMoving={reorder.isPending}
              onUp={index > 0 ? () => move(index, index - 1) : null}
              onDown={index < dashboards.length - 1 ? () => move(index, index + 1) : null}
            />
          ))}
        </Table>
      )}
    </Page>
  );
}

type RowProps = {
  readonly dashboard: Dashboard;
  readonly isMoving: boolean;
  readonly onUp: (() => void) | null;
  readonly onDown: (() => void) | null;
};

function Row({ dashboard: { id, name, graphCount, updatedAt }, isMoving, onUp, onDown }: RowProps) {
  const { slug } = route.useParams();
  const { may } = useSession();
  return (
    <tr>
      <td>
        <Link to="/$slug/dashboards/$dashboardId" params={{ slug, dashboardId: id }}>
          <bdi>{nameControls(name)}</bdi>
        </Link>
      </td>
      <td className={page.number}>{formatCount(graphCount)}</td>
      <InstantCell at={updatedAt} as="short" />
      <td>
        <div className={page.row}>
          {may('analytics:update') && (
            <>
              <Button
                small
                disabled={onUp === null || isMoving}
                aria-label={`Move ${name} up`}
                onClick={() => onUp?.()}
              >
                Up
              </Button>
              <Button
                small
                disabled={onDown === null || isMoving}
                aria-label={`Move ${name} down`}
                onClick={() => onDown?.()}
              >
                Down
              </Button>
              <RenameDashboard id={id} name={name} />
            </>
          )}
          {may('analytics:manage') && (
            <ConfirmButton
              label="Delete"
              small
              variant="danger"
              title={`Delete ${nameControls(name)}`}
              action="Delete permanently"
              typed="delete"
              method={DashboardService.method.deleteDashboard}
              input={{ id }}
            >
              Its graphs are deleted with it, for everyone.
            </ConfirmButton>
          )}
        </div>
      </td>
    </tr>
  );
}

function NewDashboard() {
  return (
    <ModalButton label="New dashboard" variant="primary">
      {(close) => <NewName onDone={close} />}
    </ModalButton>
  );
}

function NewName({ onDone }: { readonly onDone: () => void }) {
  const create = useChange(DashboardService.method.createDashboard, onDone);
  return (
    <NameForm action="Create" start="" call={create} onSubmit={(name) => create.mutate({ name })} onCancel={onDone} />
  );
}

export function RenameDashboard({ id, name }: Pick<Dashboard, 'id' | 'name'>) {
  return (
    <ModalButton label="Rename" small title={`Rename ${nameControls(name)}`}>
      {(close) => <ChangedName id={id} name={name} onDone={close} />}
    </ModalButton>
  );
}

function ChangedName({ id, name, onDone }: Pick<Dashboard, 'id' | 'name'> & { readonly onDone: () => void }) {
  const rename = useChange(DashboardService.method.renameDashboard, onDone);
  const submit = (changed: string) => rename.mutate({ id, name: changed });
  return <NameForm action="Rename" start={name} call={rename} onSubmit={submit} onCancel={onDone} />;
}

type NameFormProps = {
  readonly action: string;
  readonly start: string;
  readonly call: Call;
  readonly onSubmit: (name: string) => void;
  readonly onCancel: () => void;
};

function NameForm({ action, start, call, onSubmit, onCancel }: NameFormProps) {
  const [name, setName] = useState(start);
  return (
    <Form
      action={action}
      disabled={call.isPending || name.trim() === ''}
      error={call.error}
      onSubmit={() => onSubmit(name)}
      onCancel={onCancel}
    >
      <TextField label="Name" field="name" value={name} maxLength={NAME_CHARACTERS} onChange={setName} />
    </Form>
  );
}

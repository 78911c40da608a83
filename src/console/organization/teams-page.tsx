/** The teams, and the grants of members at every scope. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { ModalButton } from '../design/confirm.tsx';
import { Form, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { GrantTable } from './grant-table.tsx';

const route = getRouteApi('/-/teams');
const PAGE_SIZE = 1_000;
const NAME_CHARACTERS = 255;

const TABS = [
  ['teams', 'Teams'],
  ['roles', 'Roles'],
] as const;

export default function TeamsPage() {
  const { tab = 'teams' } = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const tabs = may('organization:manage') ? TABS : TABS.slice(0, 1);
  return (
    <Page
      title="Teams and roles"
      sub="A project belongs to one team. What a member is given at a team holds in its projects; grants add up, and none takes away."
    >
      <Tabs
        label="Teams and roles"
        tabs={tabs}
        shown={tab}
        onShow={(name) => void navigate({ search: name === 'teams' ? {} : { tab: name } })}
      />
      {tab === 'teams' ? <Teams /> : <GrantTable />}
    </Page>
  );
}

function Teams() {
  const { may } = useSession();
  const found = useQuery(TeamService.method.listTeams, { pageSize: PAGE_SIZE });
  return (
    <>
      <Pending found={found} />
      {found.data && (
        <Table columns={['Name', 'Slug', 'Id', 'Created']}>
          {found.data.data.map((team) => (
            <tr key={team.id}>
              <td>{nameControls(team.name)}</td>
              <td className={page.mono}>{nameControls(team.slug)}</td>
              <td className={page.mono}>{team.id}</td>
              <InstantCell at={team.createdAt} />
            </tr>
          ))}
        </Table>
      )}
      {may('team:manage') && (
        <div>
          <ModalButton label="New team" variant="primary">
            {(close) => <NewTeam onDone={close} />}
          </ModalButton>
        </div>
      )}
    </>
  );
}

function NewTeam({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState('');
  const create = useChange(TeamService.method.createTeam, onDone);
  return (
    <Form
      action="Create the team"
      disabled={create.isPending || name.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate({ name: name.trim() })}
      onCancel={onDone}
    >
      <TextField label="Name" maxLength={NAME_CHARACTERS} value={name} onChange={setName} />
    </Form>
  );
}

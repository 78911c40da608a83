/** The teams, and the grants of members at every scope. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Button, Field, Loading } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { GrantTable } from './grant-table.tsx';

const route = getRouteApi('/-/teams');
const PAGE_SIZE = 1_000;
const NAME_CHARACTERS = 255;

const TABS = [
  ['teams', 'Teams'],
  ['roles', 'Roles'],
] as const;

export function TeamsPage() {
  const { tab = 'teams' } = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const tabs = may('organization:manage') ? TABS : TABS.slice(0, 1);
  return (
    <div className={page.page}>
      <div>
        <h1>Teams and roles</h1>
        <p className={page.sub}>
          A project belongs to one team. What a member is given at a team holds in its projects; grants add up, and none
          takes away.
        </p>
      </div>
      <Tabs
        label="Teams and roles"
        tabs={tabs}
        shown={tab}
        onShow={(name) => void navigate({ search: name === 'teams' ? {} : { tab: name } })}
      />
      {tab === 'teams' ? <Teams /> : <GrantTable />}
    </div>
  );
}

function Teams() {
  const { may } = useSession();
  const [isMaking, setMaking] = useState(false);
  const found = useQuery(TeamService.method.listTeams, { pageSize: PAGE_SIZE });
  return (
    <>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data && (
        <div className={`${page.card} ${page.scroll}`}>
          <Table columns={['Name', 'Slug', 'Id', 'Made']}>
            {found.data.data.map((team) => (
              <tr key={team.id}>
                <td>{nameControls(team.name)}</td>
                <td className={page.mono}>{nameControls(team.slug)}</td>
                <td className={page.mono}>{team.id}</td>
                <td className={page.nowrap}>
                  <Instant at={team.createdAt} />
                </td>
              </tr>
            ))}{' '}
          </Table>
        </div>
      )}
      {may('team:manage') && (
        <div>
          <Button variant="primary" onClick={() => setMaking(true)}>
            New team
          </Button>
        </div>
      )}
      <Modal open={isMaking} onClose={() => setMaking(false)} title="New team">
        <NewTeam onDone={() => setMaking(false)} />
      </Modal>
    </>
  );
}

function NewTeam({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState('');
  const refresh = useRefresh();
  const create = useMutation(TeamService.method.createTeam, {
    async onSuccess() {
      await refresh();
      onDone();
    },
  });
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name: name.trim() });
      }}
    >
      <Field label="Name">
        {(props) => (
          <input {...props} maxLength={NAME_CHARACTERS} value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      {create.isError && <FailureNotice error={create.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={create.isPending || name.trim() === ''}>
          Create the team
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

/** The teams, and the grants of members at every scope. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { ProjectService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { ModalButton } from '../design/confirm.tsx';
import { Form, TextField } from '../design/form.tsx';
import { NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { GrantTable } from './grant-table.tsx';
import { ProjectLink } from './project-choice.tsx';
import { roleLabel, useMemberName, useTeamGrants } from './scopes.ts';

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
      sub="A project belongs to one team. A role that a member has in a team applies to all of its projects; roles add up."
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
  const seesMembers = may('organization:manage');
  const canList = may('project:view');
  const projects =
    useQuery(ProjectService.method.listProjects, { pageSize: PAGE_SIZE }, { enabled: canList }).data?.data ?? [];
  const grants = useTeamGrants();
  const grantsOf = useMemo(() => Map.groupBy(grants.items, ({ scopeId }) => scopeId), [grants.items]);
  const memberName = useMemberName();
  return (
    <>
      <Pending found={found} />
      {found.data && (
        <Table columns={['Name', 'Projects', ...(seesMembers ? ['Members'] : []), 'Slug', 'Id', 'Created']}>
          {found.data.data.map((team) => (
            <tr key={team.id}>
              <td>{nameControls(team.name)}</td>
              <td>
                <Listed
                  items={projects.filter(({ teamId, archivedAt }) => teamId === team.id && !archivedAt)}
                  show={({ id, name, slug }) => <ProjectLink id={id} name={name ?? slug} />}
                />
              </td>
              {seesMembers && (
                <td>
                  <Listed
                    items={grantsOf.get(team.id) ?? []}
                    show={({ userId, role }) => (
                      <>
                        {memberName(userId)} <span className={page.soft}>{roleLabel(role)}</span>
                      </>
                    )}
                  />
                </td>
              )}
              <td className={page.mono}>{nameControls(team.slug)}</td>
              <td className={page.mono}>{team.id}</td>
              <InstantCell at={team.createdAt} />
            </tr>
          ))}
        </Table>
      )}
      {grants.isCut && <p className={page.soft}>Not all members of teams are shown here. “Roles” lists all grants.</p>}
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

type ListedProps<Item> = { readonly items: readonly Item[]; readonly show: (item: Item) => ReactNode };

/** One line each. */
function Listed<Item extends { readonly id: string }>({ items, show }: ListedProps<Item>) {
  if (items.length === 0) return <span className={page.soft}>{NONE}</span>;
  return items.map((item) => (
    <div key={item.id} className={page.line}>
      {show(item)}
    </div>
  ));
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

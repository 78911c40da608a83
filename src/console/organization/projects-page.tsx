/** The projects of the organization, and their keys. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Project, ProjectService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge, Button, Field, Loading } from '../design/button.tsx';
import { Confirm, Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { SecretOnce } from '../design/secret-once.tsx';
import { Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';

const PAGE_SIZE = 1_000;

export function ProjectsPage() {
  const { may } = useSession();
  const client = useQueryClient();
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [toRotate, setToRotate] = useState<Project | null>(null);
  const found = useQuery(ProjectService.method.listProjects, { pageSize: PAGE_SIZE });
  const rotate = useMutation(ProjectService.method.rotateProjectKey, {
    onSuccess({ apiKey }) {
      setToRotate(null);
      setSecret(apiKey);
    },
  });
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Projects</h1>
          <p className={page.sub}>Each has traces of its own, and a key that sends them.</p>
        </div>
        {may('project:create') && (
          <Button variant="primary" onClick={() => setMaking(true)}>
            New project
          </Button>
        )}
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data && found.data.data.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <Table columns={['Name', 'Id', 'Key', 'Key last used', 'Made', 'Actions']}>
            {found.data.data.map((project) => (
              <tr key={project.id}>
                <td>
                  {nameControls(project.name ?? '')} {project.archivedAt && <Badge>archived</Badge>}
                </td>
                <td className={page.mono}>{project.id}</td>
                <td className={page.mono}>{nameControls(project.apiKeyHint)}</td>
                <td className={page.nowrap}>
                  <Instant at={project.apiKeyLastUsedAt} />
                </td>
                <td className={page.nowrap}>
                  <Instant at={project.createdAt} />
                </td>
                <td>
                  {may('project:manage') && !project.archivedAt && (
                    <Button small onClick={() => setToRotate(project)}>
                      Rotate key
                    </Button>
                  )}
                </td>
              </tr>
            ))}{' '}
          </Table>
        </div>
      )}
      <Modal open={isMaking} onClose={() => setMaking(false)} title="New project">
        <NewProject
          onMade={(apiKey) => {
            setMaking(false);
            setSecret(apiKey);
          }}
        />
      </Modal>
      <Confirm
        open={toRotate !== null}
        onClose={() => setToRotate(null)}
        title={`Rotate the key of ${nameControls(toRotate?.name ?? '')}`}
        action="Replace the key"
        typed="rotate"
        pending={rotate.isPending}
        error={rotate.error}
        onConfirm={() => toRotate && rotate.mutate({ id: toRotate.id })}
      >
        The key it has now is refused from the next request on.
      </Confirm>
      <SecretOnce
        secret={secret}
        title="The key of the project"
        onClose={() => {
          setSecret(null);
          // The account query lists projects, too.
          void client.invalidateQueries();
        }}
      />
    </div>
  );
}

function NewProject({ onMade }: { readonly onMade: (apiKey: string) => void }) {
  const [name, setName] = useState('');
  const [teamId, setTeamId] = useState('');
  const teams = useQuery(TeamService.method.listTeams, { pageSize: PAGE_SIZE });
  const create = useMutation(ProjectService.method.createProject, { onSuccess: ({ apiKey }) => onMade(apiKey) });
  const team = teamId || (teams.data?.data[0]?.id ?? '');
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name: name.trim(), teamId: team });
      }}
    >
      <Field label="Name">
        {(props) => <input {...props} maxLength={255} value={name} onChange={({ target }) => setName(target.value)} />}
      </Field>
      <Field label="Team">
        {(props) => (
          <select {...props} value={team} onChange={({ target }) => setTeamId(target.value)}>
            {teams.data?.data.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {(create.error ?? teams.error) && <FailureNotice error={create.error ?? teams.error} />}
      <div>
        <Button type="submit" variant="primary" disabled={create.isPending || name.trim() === '' || team === ''}>
          Create the project
        </Button>
      </div>
    </form>
  );
}

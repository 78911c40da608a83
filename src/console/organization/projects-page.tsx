/** The projects of the organization, and their keys. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ProjectService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge } from '../design/button.tsx';
import { ConfirmButton, ModalButton, SecretOnce } from '../design/confirm.tsx';
import { Form, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { ProjectLink } from './project-choice.tsx';

const PAGE_SIZE = 1_000;

export default function ProjectsPage() {
  const { may } = useSession();
  const client = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  const found = useQuery(ProjectService.method.listProjects, { pageSize: PAGE_SIZE });
  return (
    <Page
      title="Projects"
      sub="Each project has its own traces and its own key to send them."
      actions={
        may('project:create') && (
          <ModalButton label="New project" variant="primary">
            {(close) => (
              <NewProject
                onMade={(apiKey) => {
                  close();
                  setSecret(apiKey);
                }}
              />
            )}
          </ModalButton>
        )
      }
    >
      <Pending found={found} />
      {found.data && found.data.data.length > 0 && (
        <Table columns={['Name', 'Id', 'Key', 'Key last used', 'Created', 'Actions']}>
          {found.data.data.map((project) => (
            <tr key={project.id}>
              <td>
                <ProjectLink id={project.id} name={project.name ?? project.slug} />{' '}
                {project.archivedAt && <Badge>archived</Badge>}
              </td>
              <td className={page.mono}>{project.id}</td>
              <td className={page.mono}>{nameControls(project.apiKeyHint)}</td>
              <InstantCell at={project.apiKeyLastUsedAt} />
              <InstantCell at={project.createdAt} />
              <td>
                {may('project:manage') && !project.archivedAt && (
                  <ConfirmButton
                    small
                    label="Rotate key"
                    title={`Rotate the key of ${nameControls(project.name ?? '')}`}
                    action="Replace the key"
                    typed="rotate"
                    method={ProjectService.method.rotateProjectKey}
                    input={{ id: project.id }}
                    onDone={({ apiKey }) => setSecret(apiKey)}
                  >
                    The current key stops working at once.
                  </ConfirmButton>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      <SecretOnce
        secret={secret}
        title="The key of the project"
        onClose={() => {
          setSecret(null);
          // The account query lists projects, too.
          void client.invalidateQueries();
        }}
      />
    </Page>
  );
}

function NewProject({ onMade }: { readonly onMade: (apiKey: string) => void }) {
  const [name, setName] = useState('');
  const [teamId, setTeamId] = useState('');
  const teams = useQuery(TeamService.method.listTeams, { pageSize: PAGE_SIZE });
  const create = useMutation(ProjectService.method.createProject, { onSuccess: ({ apiKey }) => onMade(apiKey) });
  const team = teamId || (teams.data?.data[0]?.id ?? '');
  return (
    <Form
      action="Create the project"
      disabled={create.isPending || name.trim() === '' || team === ''}
      error={create.error ?? teams.error}
      onSubmit={() => create.mutate({ name: name.trim(), teamId: team })}
    >
      <TextField label="Name" maxLength={255} value={name} onChange={setName} />
      <SelectField
        label="Team"
        value={team}
        options={teams.data?.data.map((each) => [each.id, each.name] as const) ?? []}
        onChange={setTeamId}
      />
    </Form>
  );
}

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Project, ProjectService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { ConfirmButton } from '../design/confirm.tsx';
import { FORM_CARD, Form, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { Pending } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';

const TEAMS_MAX = 1_000;
const NAME_CHARACTERS = 255;
const WORD_CHARACTERS = 64;

export function ProjectDetails({ id }: { readonly id: string }) {
  const { may } = useSession();
  const found = useQuery(ProjectService.method.getProject, { id });
  if (!found.isSuccess) return <Pending found={found} />;
  const { project } = found.data;
  if (!project) return null;
  return (
    <>
      {may('project:update') && <Change key={id} project={project} />}
      {may('project:delete') && <Archive project={project} />}
    </>
  );
}

function Change({ project }: { readonly project: Project }) {
  const [name, setName] = useState(project.name ?? '');
  const [teamId, setTeamId] = useState(project.teamId ?? '');
  const [language, setLanguage] = useState(project.language ?? '');
  const [framework, setFramework] = useState(project.framework ?? '');
  const client = useQueryClient();
  const teams = useQuery(TeamService.method.listTeams, { pageSize: TEAMS_MAX });
  // The account query lists projects, too.
  const update = useMutation(ProjectService.method.updateProject, { onSuccess: () => client.invalidateQueries() });
  const texts = { name: name.trim(), language: language.trim(), framework: framework.trim() };
  const isComplete = Object.values(texts).every((text) => text !== '');
  const isMoved = teamId !== project.teamId;
  const input = (label: string, value: string, limit: number, set: (value: string) => void) => (
    <TextField label={label} maxLength={limit} value={value} onChange={set} />
  );
  return (
    <Form
      className={FORM_CARD}
      action="Save the project"
      disabled={update.isPending || !isComplete}
      error={update.error}
      outcome={update.isSuccess && 'Saved.'}
      onSubmit={() =>
        update.mutate({
          id: project.id,
          project: { ...texts, ...(isMoved && { teamId }) },
          updateMask: { paths: [...Object.keys(texts), ...(isMoved ? ['team_id'] : [])] },
        })
      }
    >
      <h2>The project</h2>
      {input('Name', name, NAME_CHARACTERS, setName)}
      {input('Language of the application', language, WORD_CHARACTERS, setLanguage)}
      {input('Framework of the application', framework, WORD_CHARACTERS, setFramework)}
      <SelectField
        label="Team"
        value={teamId}
        options={teams.data?.data.map((team) => [team.id, nameControls(team.name)] as const) ?? []}
        onChange={setTeamId}
      />
    </Form>
  );
}

function Archive({ project }: { readonly project: Project }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const word = project.name ?? project.slug;
  return (
    <div>
      <ConfirmButton
        label="Archive the project"
        variant="danger"
        title={`Archive ${nameControls(word)}`}
        action="Archive permanently"
        typed="archive"
        method={ProjectService.method.archiveProject}
        input={{ id: project.id }}
        onDone={() => navigate({ to: '/-/projects' })}
        refresh={() => client.invalidateQueries()}
      >
        Its key and all roles in it stop working at once. Its data is kept, but nobody can read it here any more. This
        cannot be undone.
      </ConfirmButton>
    </div>
  );
}

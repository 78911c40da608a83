import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Project, ProjectService, TeamService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Button, Field, Loading } from '../design/button.tsx';
import { Confirm } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';

const TEAMS_MAX = 1_000;
const NAME_CHARACTERS = 255;
const WORD_CHARACTERS = 64;

export function ProjectDetails({ id }: { readonly id: string }) {
  const { may } = useSession();
  const found = useQuery(ProjectService.method.getProject, { id });
  if (found.isPending) return <Loading />;
  if (found.isError) return <FailureNotice error={found.error} retry={found.refetch} />;
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
    <Field label={label}>
      {(props) => <input {...props} maxLength={limit} value={value} onChange={({ target }) => set(target.value)} />}
    </Field>
  );
  return (
    <form
      className={`${page.card} ${page.padded} ${page.narrow}`}
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({
          id: project.id,
          project: { ...texts, ...(isMoved && { teamId }) },
          updateMask: { paths: [...Object.keys(texts), ...(isMoved ? ['team_id'] : [])] },
        });
      }}
    >
      <h2>The project</h2>
      {input('Name', name, NAME_CHARACTERS, setName)}
      {input('Language of the application', language, WORD_CHARACTERS, setLanguage)}
      {input('Framework of the application', framework, WORD_CHARACTERS, setFramework)}
      <Field label="Team">
        {(props) => (
          <select {...props} value={teamId} onChange={({ target }) => setTeamId(target.value)}>
            {teams.data?.data.map((team) => (
              <option key={team.id} value={team.id}>
                {nameControls(team.name)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {update.isError && <FailureNotice error={update.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={update.isPending || !isComplete}>
          Save the project
        </Button>
        <span role="status">{update.isSuccess && 'Saved.'}</span>
      </div>
    </form>
  );
}

function Archive({ project }: { readonly project: Project }) {
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const archive = useMutation(ProjectService.method.archiveProject, {
    async onSuccess() {
      await navigate({ to: '/-/projects' });
      await client.invalidateQueries();
    },
  });
  const word = project.name ?? project.slug;
  return (
    <div>
      <Button variant="danger" onClick={() => setAsking(true)}>
        Archive the project
      </Button>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Archive ${nameControls(word)}`}
        action="Archive permanently"
        typed="archive"
        pending={archive.isPending}
        error={archive.error}
        onConfirm={() => archive.mutate({ id: project.id })}
      >
        Its key and all grants on it are refused from the next request on. Its data stays, and nobody reads it here any
        more. This cannot be undone.
      </Confirm>
    </div>
  );
}

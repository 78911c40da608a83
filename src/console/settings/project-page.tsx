/** The settings of a project: retention, events, name, team and archiving. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type ProjectSettings, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { CopyButton } from '../design/button.tsx';
import { Confirm } from '../design/confirm.tsx';
import { Check, FORM_CARD, Form, TextField } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { useProject, useSession } from '../session/session.tsx';
import { ProjectDetails } from './project-details.tsx';

const DAYS_MAX = 3_650;

export default function ProjectPage() {
  const project = useProject();
  const { account } = useSession();
  const found = useQuery(TraceService.method.getProjectSettings);
  return (
    <Page title="Settings" sub={<>Project {nameControls(project.name)}</>}>
      <p className={page.row}>
        <span className={page.mono}>{project.id}</span> <CopyButton text={project.id}>Copy id</CopyButton>
      </p>
      <Pending found={found} />
      {found.data?.settings && <Settings settings={found.data.settings} />}
      {!account.isOfProject && <ProjectDetails id={project.id} />}
    </Page>
  );
}

function Settings({ settings }: { readonly settings: ProjectSettings }) {
  const { may } = useSession();
  const kept = settings.traceRetentionDays;
  const [days, setDays] = useState(kept === undefined ? '' : String(kept));
  const [emits, setEmits] = useState(settings.emitRequestEvents ?? false);
  const [isAsking, setAsking] = useState(false);
  const update = useChange(TraceService.method.updateProjectSettings, () => setAsking(false));
  const chosen = days === '' ? null : Number(days);
  const isValid = chosen === null || (Number.isInteger(chosen) && chosen >= 1 && chosen <= DAYS_MAX);
  const isShorter = chosen !== null && (kept === undefined || chosen < kept);
  const save = () =>
    update.mutate({
      settings: { emitRequestEvents: emits, ...(chosen !== null && { traceRetentionDays: chosen }) },
      updateMask: { paths: ['trace_retention_days', 'emit_request_events'] },
    });
  return (
    <Form
      className={FORM_CARD}
      action={may('project:manage') ? 'Save' : null}
      disabled={update.isPending || !isValid}
      error={isAsking ? null : update.error}
      outcome={update.isSuccess && 'Saved.'}
      onSubmit={() => (isShorter ? setAsking(true) : save())}
    >
      <h2>Traces</h2>
      <TextField
        label="Retention of traces, in days"
        hint={`Counted from the day they were first stored, 1 to ${formatCount(DAYS_MAX)}. Leave it empty to keep them forever.`}
        type="number"
        min={1}
        max={DAYS_MAX}
        value={days}
        disabled={!may('project:manage')}
        onChange={setDays}
      />
      <Check checked={emits} disabled={!may('project:manage')} onChange={setEmits}>
        Record an event for every LLM call in a trace
      </Check>
      {isAsking && (
        <Confirm
          onClose={() => setAsking(false)}
          title="Keep traces for less time"
          action="Delete what is older"
          typed="delete"
          call={update}
          onConfirm={save}
        >
          Traces stored more than {formatCount(chosen)} days ago disappear at once, and every other trace once it is
          that old. They are erased within a day. This cannot be undone.
        </Confirm>
      )}
    </Form>
  );
}

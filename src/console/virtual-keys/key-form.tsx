/** The form of a virtual key: whose it is, and the rules for its requests. */

import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { FailureNotice } from '../design/failure.tsx';
import { AreaField, type Call, Check, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { MemberField } from '../organization/member-field.tsx';
import { useMembers, useProjectName } from '../organization/scopes.ts';
import { ProjectScope, useSession } from '../session/session.tsx';
import { type KeyDraft, keyProblems, type RuleDraft } from './key-draft.ts';
import { RuleFields } from './key-rules.tsx';

const NAME_CHARACTERS = 128;
const DESCRIPTION_CHARACTERS = 500;

type KeyFormProps = {
  readonly start: KeyDraft;
  /** Whether the project can be chosen: that of a stored key never changes. */
  readonly isNew: boolean;
  readonly action: string;
  readonly call: Call;
  readonly outcome?: ReactNode;
  /** Above the button. */
  readonly notice?: ReactNode;
  readonly onSubmit: (draft: KeyDraft) => void;
};

export function KeyForm({ start, isNew, action, call, outcome, notice, onSubmit }: KeyFormProps) {
  const { account } = useSession();
  const [draft, change] = useDraft(start);
  const { rules, projectId } = draft;
  const problems = keyProblems(draft);
  const changeRules = (part: Partial<RuleDraft>) => change({ rules: { ...rules, ...part } });
  return (
    <Form
      className={FORM_CARD}
      action={action}
      disabled={call.isPending || draft.name.trim() === '' || projectId === '' || problems.length > 0}
      error={call.error}
      problems={problems}
      outcome={outcome}
      onSubmit={() => onSubmit(draft)}
    >
      <TextField
        label="Name"
        field="name"
        maxLength={NAME_CHARACTERS}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      {isNew && (
        <SelectField
          label="Project"
          hint="It receives the traces and requests of the key. It cannot be changed later."
          field="trace_project_id"
          value={projectId}
          options={account.projects.map(({ id, name }) => [id, nameControls(name)] as const)}
          // What belongs to a project does not fit another one.
          onChange={(id) => change({ projectId: id, rules: { ...rules, providers: [], pre: [], post: [] } })}
        />
      )}
      <TextField
        label="Expires (optional)"
        hint="Leave it empty for a key that never expires."
        field="expires_at"
        type="datetime-local"
        value={draft.expires}
        onChange={(expires) => change({ expires })}
      />
      <Principal value={draft.principalUserId} onChange={(principalUserId) => change({ principalUserId })} />
      <RuleFields rules={rules} projectId={projectId} onChange={changeRules} />
      <InProject id={projectId}>
        <Guardrails rules={rules} onChange={changeRules} />
      </InProject>
      <Further draft={draft} onChange={change} />
      {notice}
    </Form>
  );
}

type DraftProps = { readonly draft: KeyDraft; readonly onChange: (part: Partial<KeyDraft>) => void };

function Further({ draft, onChange }: DraftProps) {
  return (
    <fieldset className={page.group}>
      <legend>About the key</legend>
      <TextField
        label="Description (optional)"
        field="description"
        maxLength={DESCRIPTION_CHARACTERS}
        value={draft.description}
        onChange={(description) => onChange({ description })}
      />
      <AreaField
        label="Labels (optional)"
        hint="One per line. Requests of the key carry them, and spend can be grouped by them."
        field="labels"
        rows={2}
        value={draft.labels}
        onChange={(labels) => onChange({ labels })}
      />
      <TextField
        label="External id (optional)"
        hint="The id of the key in another system, unique in the organization."
        field="external_id"
        maxLength={NAME_CHARACTERS}
        spellCheck={false}
        value={draft.externalId}
        onChange={(externalId) => onChange({ externalId })}
      />
      <AreaField
        label="Metadata (optional)"
        hint="A JSON object."
        field="metadata"
        rows={2}
        spellCheck={false}
        value={draft.metadata}
        onChange={(metadata) => onChange({ metadata })}
      />
    </fieldset>
  );
}

type PrincipalProps = { readonly value: string; readonly onChange: (id: string) => void };

/** The member that requests are made for: chosen by those who may list members, else written as an id. */
function Principal({ value, onChange }: PrincipalProps) {
  return (
    <MemberField
      label="Member (optional)"
      hint="The member the requests are made for; their budgets count them."
      field="principal_user_id"
      members={useMembers()}
      writes="userId"
      value={value}
      onChange={onChange}
    />
  );
}

/** Evaluators are read with the project named; a caller who does not reach it gets no choice. */
function InProject({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  const { account } = useSession();
  const nameOf = useProjectName();
  const project = account.projects.find((each) => each.id === id);
  if (!project) return <p className={page.soft}>The guardrails of {nameOf(id)} cannot be chosen here.</p>;
  return <ProjectScope project={project}>{children}</ProjectScope>;
}

type GuardrailsProps = { readonly rules: RuleDraft; readonly onChange: (part: Partial<RuleDraft>) => void };

const STAGES = [
  ['pre', 'Judge what is asked'],
  ['post', 'Judge the answer'],
] as const;
const GUARDRAILS_MAX = 8;

function Guardrails({ rules, onChange }: GuardrailsProps) {
  const { may } = useSession();
  const found = useQuery(EvaluatorService.method.listEvaluators, {}, { enabled: may('evaluations:view') });
  const evaluators =
    found.data?.evaluators.filter(({ evaluatorType }) => evaluatorType === EvaluatorType.EVALUATOR) ?? [];
  const known = new Map(evaluators.map(({ id, name, slug }) => [id, name ?? slug]));
  return (
    <fieldset className={page.group}>
      <legend>Guardrails</legend>
      <p className={page.soft}>Evaluators of the project that block a request or a response that fails.</p>
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.isSuccess && evaluators.length === 0 && <p>This project has no evaluators yet.</p>}
      {STAGES.map(([stage, label]) => {
        const chosen = rules[stage];
        const ids = [...new Set([...known.keys(), ...chosen])];
        if (ids.length === 0) return null;
        return (
          <div key={stage} className={page.row} role="group" aria-label={label}>
            <span>{label}:</span>
            {ids.map((id) => (
              <Check
                key={id}
                checked={chosen.includes(id)}
                disabled={!chosen.includes(id) && chosen.length >= GUARDRAILS_MAX}
                onChange={(isOn) =>
                  onChange({ [stage]: isOn ? [...chosen, id] : chosen.filter((each) => each !== id) })
                }
              >
                {nameControls(known.get(id) ?? id)}
              </Check>
            ))}
          </div>
        );
      })}
    </fieldset>
  );
}

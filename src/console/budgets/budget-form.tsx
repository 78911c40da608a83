/** The form of a budget. What it counts and its period never change. */

import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useId } from 'react';
import { type BudgetReserve, BudgetScopeKind } from '../../../gen/spandrel/v1/budgets_pb.js';
import { type BudgetOnBreach, BudgetWindow } from '../../../gen/spandrel/v1/gateway_pb.js';
import { ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { type Call, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { offeredMembers } from '../organization/member-choice.ts';
import { useMembers, useScopes, useVirtualKeys } from '../organization/scopes.ts';
import { useSession } from '../session/session.tsx';
import { BREACHES, RESERVES, SCOPES, WINDOWS } from './budget-enums.ts';

export type BudgetDraft = {
  readonly name: string;
  readonly scopeKind: BudgetScopeKind;
  readonly scopeId: string;
  readonly window: BudgetWindow;
  readonly limitUsd: string;
  readonly onBreach: BudgetOnBreach;
  readonly reserve: BudgetReserve;
  /** Empty: all. */
  readonly providerId: string;
  /** Local date and time; empty: the creation. */
  readonly anchor: string;
};

const NAME_CHARACTERS = 128;
const AMOUNT = /^\d+(?:\.\d{1,9})?$/;

type BudgetFormProps = {
  readonly start: BudgetDraft;
  readonly isNew: boolean;
  readonly action: string;
  readonly call: Call;
  readonly outcome?: ReactNode;
  readonly onSubmit: (draft: BudgetDraft) => void;
};

export function BudgetForm({ start, isNew, action, call, outcome, onSubmit }: BudgetFormProps) {
  const [draft, change] = useDraft(start);
  const limit = draft.limitUsd.trim();
  const isAmount = AMOUNT.test(limit) && Number(limit) > 0;
  const hasScope = draft.scopeKind === BudgetScopeKind.ORGANIZATION || draft.scopeId.trim() !== '';
  const problems =
    limit === '' || isAmount ? [] : [{ field: 'limit_usd', text: 'Enter an amount above 0, such as 100 or 0.50.' }];
  return (
    <Form
      className={FORM_CARD}
      action={action}
      disabled={call.isPending || draft.name.trim() === '' || !isAmount || !hasScope}
      error={call.error}
      problems={problems}
      outcome={outcome}
      onSubmit={() => onSubmit({ ...draft, name: draft.name.trim(), limitUsd: limit, scopeId: draft.scopeId.trim() })}
    >
      <TextField
        label="Name"
        field="name"
        maxLength={NAME_CHARACTERS}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      {isNew && <Scope draft={draft} onChange={change} />}
      <TextField
        label="Limit per period, USD"
        field="limit_usd"
        inputMode="decimal"
        placeholder="100"
        value={draft.limitUsd}
        onChange={(limitUsd) => change({ limitUsd })}
      />
      {isNew && (
        <SelectField label="Period" value={draft.window} options={WINDOWS} onChange={(window) => change({ window })} />
      )}
      <SelectField
        label="When the limit is reached"
        value={draft.onBreach}
        options={BREACHES}
        onChange={(onBreach) => change({ onBreach })}
      />
      <SelectField
        label="Reserve for each running request"
        hint={RESERVES.find(([each]) => each === draft.reserve)?.[2]}
        value={draft.reserve}
        options={RESERVES}
        onChange={(reserve) => change({ reserve })}
      />
      {isNew && <Further draft={draft} onChange={change} />}
    </Form>
  );
}

type DraftProps = { readonly draft: BudgetDraft; readonly onChange: (part: Partial<BudgetDraft>) => void };

const KINDS = SCOPES.map(([kind, , label]) => [kind, label] as const);

function Scope({ draft: { scopeKind, scopeId }, onChange }: DraftProps) {
  return (
    <>
      <SelectField
        label="Applies to"
        field="scope.kind"
        value={scopeKind}
        options={KINDS}
        onChange={(kind) => onChange({ scopeKind: kind, scopeId: '' })}
      />
      {scopeKind !== BudgetScopeKind.ORGANIZATION && (
        <ScopeId key={scopeKind} kind={scopeKind} value={scopeId} onChange={(id) => onChange({ scopeId: id })} />
      )}
    </>
  );
}

type Choices = readonly (readonly [id: string, label: string])[];
type ScopeIdProps = {
  readonly kind: BudgetScopeKind;
  readonly value: string;
  readonly onChange: (id: string) => void;
};

/** The list of keys may be longer than one page, and keys of other gateways are in none: ids can be typed. */
function ScopeId({ kind, value, onChange }: ScopeIdProps) {
  const list = useId();
  const scopes = useScopes();
  const members = useMembers();
  const countsKeys = kind === BudgetScopeKind.VIRTUAL_KEY || kind === BudgetScopeKind.ATTRIBUTED_USER;
  const listed = useVirtualKeys(countsKeys);
  const ofType = (type: ScopeType): Choices =>
    scopes.filter((scope) => scope.type === type).map(({ id, label }) => [id, label]);
  const keys: Choices = listed.map(({ id, name }) => [id, nameControls(name ?? '')] as const);
  if (kind === BudgetScopeKind.TEAM || kind === BudgetScopeKind.PROJECT) {
    const isTeam = kind === BudgetScopeKind.TEAM;
    return (
      <SelectField
        label={isTeam ? 'Team' : 'Project'}
        hint={isTeam ? 'Counts requests of the projects that are in the team when a request is reported.' : undefined}
        field="scope.id"
        value={value}
        options={[['', 'Choose…'], ...ofType(isTeam ? ScopeType.TEAM : ScopeType.PROJECT)]}
        onChange={onChange}
      />
    );
  }
  const { label, hint, choices } = {
    [BudgetScopeKind.PRINCIPAL]: {
      label: 'Id of the member',
      hint: 'Counts requests made for this member.',
      choices: offeredMembers(value, members).map(
        ({ userId, name, email }) => [userId, nameControls(name || email)] as const,
      ),
    },
    [BudgetScopeKind.ATTRIBUTED_USER]: {
      label: 'Id of the virtual key or project',
      hint: 'Each end user gets the whole limit. Requests must name their end user.',
      choices: [...keys, ...ofType(ScopeType.PROJECT)],
    },
  }[kind as BudgetScopeKind.PRINCIPAL | BudgetScopeKind.ATTRIBUTED_USER] ?? {
    label: 'Id of the virtual key',
    hint: 'A key of this server, or one of another gateway that reports its requests.',
    choices: keys,
  };
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        field="scope.id"
        list={list}
        spellCheck={false}
        value={value}
        onChange={onChange}
      />
      <datalist id={list}>
        {choices.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** An organization has no more. */
const PROVIDERS_MAX = 200;

function Further({ draft, onChange }: DraftProps) {
  const { may } = useSession();
  const { data } = useQuery(
    ModelProviderService.method.listModelProviders,
    { pageSize: PROVIDERS_MAX },
    { enabled: may('gatewayProviders:view') },
  );
  const isSingle = draft.window === BudgetWindow.TOTAL || draft.window === BudgetWindow.MANUAL;
  return (
    <>
      <SelectField
        label="Model providers"
        field="provider_id"
        value={draft.providerId}
        options={[
          ['', 'Requests to all count'],
          ...(data?.data.map(({ id, name }) => [id, `Only ${nameControls(name ?? '')}`] as const) ?? []),
        ]}
        onChange={(providerId) => onChange({ providerId })}
      />
      <TextField
        label={isSingle ? 'Begins (optional)' : 'A period begins (optional)'}
        hint={
          isSingle ? 'Leave it empty to start now.' : 'Periods are counted from this time. Leave it empty to start now.'
        }
        field="cycle_anchor_at"
        type="datetime-local"
        value={draft.anchor}
        onChange={(anchor) => onChange({ anchor })}
      />
    </>
  );
}

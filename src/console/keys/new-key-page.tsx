/** Creates a key, after showing what it will be able to do. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ApiKeyService, KeyType, PermissionMode, Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { OrganizationService } from '../../../gen/spandrel/v1/organization_pb.js';
import { PermissionService } from '../../../gen/spandrel/v1/permissions_pb.js';
import { SecretOnce } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { Back, Page } from '../design/page.tsx';
import { ProjectChoice } from '../organization/project-choice.tsx';
import { useRefresh } from '../session/refresh.ts';
import { effectOf } from './effect.ts';
import { EffectView } from './effect-view.tsx';
import styles from './keys.module.css';
import { PermissionMatrix } from './permission-matrix.tsx';

const DAY_MS = 86_400_000;
/** Days; 0 stands for no end. */
const TERMS = [
  [0, 'Never'],
  [7, 'In 7 days'],
  [30, 'In 30 days'],
  [90, 'In 90 days'],
  [365, 'In a year'],
] as const;

/** The roles of a grant; `CUSTOM` opens the choice of single permissions. */
const POWERS: readonly (readonly [role: Role, label: string])[] = [
  [Role.CUSTOM, 'Chosen permissions'],
  [Role.VIEWER, 'View data (VIEWER)'],
  [Role.MEMBER, 'Work with data (MEMBER)'],
  [Role.ADMIN, 'Everything (ADMIN)'],
];

const OWNERS: readonly (readonly [type: Draft['type'], label: string])[] = [
  [KeyType.SERVICE, 'A service'],
  [KeyType.PERSONAL, 'Me'],
];

type Draft = {
  readonly name: string;
  readonly type: KeyType.SERVICE | KeyType.PERSONAL;
  /** Ids; empty means the organization. */
  readonly projects: readonly string[];
  readonly role: Role;
  readonly chosen: ReadonlySet<string>;
  readonly days: (typeof TERMS)[number][0];
};

const EMPTY: Draft = {
  name: '',
  type: KeyType.SERVICE,
  projects: [],
  role: Role.CUSTOM,
  chosen: new Set(),
  days: 0,
};

export default function NewKeyPage() {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [draft, change] = useDraft(EMPTY);
  const organization = useQuery(OrganizationService.method.getOrganization);
  const catalogue = useQuery(PermissionService.method.listPermissions);
  const permissions = useMemo(() => catalogue.data?.data ?? [], [catalogue.data]);
  const scopeType = draft.projects.length > 0 ? ScopeType.PROJECT : ScopeType.ORGANIZATION;
  const { role, chosen } = draft;
  const effect = useMemo(
    () => effectOf(permissions, { role, chosen, scopeType }),
    [permissions, role, chosen, scopeType],
  );
  const create = useMutation(ApiKeyService.method.createApiKey, { onSuccess: () => void refresh() });
  const isCustom = draft.role === Role.CUSTOM;
  const isComplete = draft.name.trim() !== '' && (!isCustom || effect.granted.length > 0);
  const make = () => {
    const organizationId = organization.data?.organization?.id ?? '';
    const scopeIds = draft.projects.length > 0 ? draft.projects : [organizationId];
    create.mutate({
      keyType: draft.type,
      name: draft.name.trim(),
      permissionMode: isCustom ? PermissionMode.RESTRICTED : PermissionMode.ALL,
      ...(isCustom && { permissions: [...draft.chosen] }),
      bindings: scopeIds.map((scopeId) => ({ role: draft.role, scopeType, scopeId })),
      ...(draft.days > 0 && { expiry: { at: timestampFromMs(Date.now() + draft.days * DAY_MS) } }),
    });
  };
  return (
    <Page back={<Back to="/-/keys" label="API keys" />} title="New API key">
      <Form
        className={styles.form}
        action="Create the key"
        disabled={!isComplete || create.isPending || !organization.isSuccess}
        error={create.error}
        onSubmit={make}
      >
        <Basics draft={draft} onChange={change} />
        {isCustom && (
          <PermissionMatrix
            catalogue={permissions}
            chosen={draft.chosen}
            granted={new Set(effect.granted)}
            onChange={(chosen) => change({ chosen })}
          />
        )}
        <EffectView
          title="Effective permissions of the key"
          effect={effect}
          isKey
          isPersonal={draft.type === KeyType.PERSONAL}
        />
        {(organization.error ?? catalogue.error) && <FailureNotice error={organization.error ?? catalogue.error} />}
      </Form>
      <SecretOnce
        secret={create.data?.token ?? null}
        title="The new key"
        onClose={() => void navigate({ to: '/-/keys' })}
      />
    </Page>
  );
}

function Basics({ draft, onChange }: { readonly draft: Draft; readonly onChange: (part: Partial<Draft>) => void }) {
  return (
    <div className={styles.basics}>
      <TextField label="Name" maxLength={100} value={draft.name} onChange={(name) => onChange({ name })} />
      <SelectField
        label="Owner"
        hint="A personal key can never do more than you can."
        value={draft.type}
        options={OWNERS}
        onChange={(type) => onChange({ type })}
      />
      <SelectField label="Role" value={draft.role} options={POWERS} onChange={(role) => onChange({ role })} />
      <SelectField label="Expires" value={draft.days} options={TERMS} onChange={(days) => onChange({ days })} />
      <ProjectChoice legend="Where" chosen={draft.projects} onChange={(projects) => onChange({ projects })} />
    </div>
  );
}

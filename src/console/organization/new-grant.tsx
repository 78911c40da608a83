import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useMemo, useState } from 'react';
import { Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { type Member, RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { PermissionService } from '../../../gen/spandrel/v1/permissions_pb.js';
import { Button, Field } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { effectOf } from '../keys/effect.ts';
import { EffectView } from '../keys/effect-view.tsx';
import { PermissionMatrix } from '../keys/permission-matrix.tsx';
import { useRefresh } from '../session/refresh.ts';
import { ROLES, type Scope } from './scopes.ts';

const NOTHING: ReadonlySet<string> = new Set();

type NewGrantProps = {
  readonly scopes: readonly Scope[];
  readonly members: readonly Member[];
  readonly onDone: () => void;
};

export function NewGrant({ scopes, members, onDone }: NewGrantProps) {
  const [userId, setUserId] = useState('');
  const [role, setRole] = useState(Role.VIEWER);
  const [scopeId, setScopeId] = useState('');
  const [chosen, setChosen] = useState(NOTHING);
  const catalogue = useQuery(PermissionService.method.listPermissions);
  const permissions = useMemo(() => catalogue.data?.data ?? [], [catalogue.data]);
  const scope = scopes.find(({ id }) => id === scopeId);
  const isWhole = scope?.type === ScopeType.ORGANIZATION;
  const effect = useMemo(
    () => effectOf(permissions, { role, chosen, scopeType: isWhole ? ScopeType.ORGANIZATION : ScopeType.PROJECT }),
    [permissions, role, chosen, isWhole],
  );
  const refresh = useRefresh();
  const create = useMutation(RoleBindingService.method.createRoleBinding, {
    async onSuccess() {
      await refresh();
      onDone();
    },
  });
  const isCustom = role === Role.CUSTOM;
  const isComplete = userId !== '' && scope !== undefined && (!isCustom || effect.granted.length > 0);
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!scope) return;
        create.mutate({
          userId,
          role,
          scopeType: scope.type,
          scopeId: scope.id,
          ...(isCustom && { permissions: [...chosen] }),
        });
      }}
    >
      <Field label="Member">
        {(props) => (
          <select {...props} value={userId} onChange={({ target }) => setUserId(target.value)}>
            <option value="">Choose…</option>
            {members.map((member) => (
              <option key={member.userId} value={member.userId}>
                {nameControls(`${member.name ?? ''} <${member.email}>`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Where" hint="There and below.">
        {(props) => (
          <select {...props} value={scopeId} onChange={({ target }) => setScopeId(target.value)}>
            <option value="">Choose…</option>
            {scopes.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Role">
        {(props) => (
          <select {...props} value={role} onChange={({ target }) => setRole(Number(target.value))}>
            {ROLES.map(([each, label]) => (
              <option key={each} value={each}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isCustom && (
        <PermissionMatrix
          catalogue={permissions}
          chosen={chosen}
          granted={new Set(effect.granted)}
          onChange={setChosen}
        />
      )}
      {scope !== undefined && <EffectView title="What it gives there" effect={effect} />}
      {(create.error ?? catalogue.error) && <FailureNotice error={create.error ?? catalogue.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={create.isPending || !isComplete}>
          Grant it
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

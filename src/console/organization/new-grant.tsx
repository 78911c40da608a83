import { useQuery } from '@connectrpc/connect-query';
import { useMemo, useState } from 'react';
import { Role, ScopeType } from '../../../gen/spandrel/v1/keys_pb.js';
import { type Member, RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { PermissionService } from '../../../gen/spandrel/v1/permissions_pb.js';
import { Form, SelectField } from '../design/form.tsx';
import { effectOf } from '../keys/effect.ts';
import { EffectView } from '../keys/effect-view.tsx';
import { PermissionMatrix } from '../keys/permission-matrix.tsx';
import { useChange } from '../session/refresh.ts';
import { memberIdOf } from './member-choice.ts';
import { MemberField } from './member-field.tsx';
import { ROLES, type Scope } from './scopes.ts';

const NOTHING: ReadonlySet<string> = new Set();

type NewGrantProps = {
  readonly scopes: readonly Scope[];
  readonly members: readonly Member[];
  readonly onDone: () => void;
};

export function NewGrant({ scopes, members, onDone }: NewGrantProps) {
  const [member, setMember] = useState('');
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
  const create = useChange(RoleBindingService.method.createRoleBinding, onDone);
  const isCustom = role === Role.CUSTOM;
  const isComplete = member.trim() !== '' && scope !== undefined && (!isCustom || effect.granted.length > 0);
  return (
    <Form
      action="Grant the role"
      disabled={create.isPending || !isComplete}
      error={create.error ?? catalogue.error}
      onSubmit={() => {
        if (!scope) return;
        create.mutate({
          userId: memberIdOf(member, members),
          role,
          scopeType: scope.type,
          scopeId: scope.id,
          ...(isCustom && { permissions: [...chosen] }),
        });
      }}
      onCancel={onDone}
    >
      <MemberField
        label="Member"
        hint="Their e-mail address, or their id."
        members={members}
        writes="email"
        value={member}
        onChange={setMember}
      />
      <SelectField
        label="Where"
        hint="The role applies there and to everything below it."
        value={scopeId}
        options={[['', 'Choose…'], ...scopes.map(({ id, label }) => [id, label] as const)]}
        onChange={setScopeId}
      />
      <SelectField label="Role" value={role} options={ROLES} onChange={setRole} />
      {isCustom && (
        <PermissionMatrix
          catalogue={permissions}
          chosen={chosen}
          granted={new Set(effect.granted)}
          onChange={setChosen}
        />
      )}
      {scope !== undefined && <EffectView title="Permissions it grants" effect={effect} />}
    </Form>
  );
}

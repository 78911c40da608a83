/** The grants of members, besides their role at the organization. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty, More, PAGING, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { NewGrant } from './new-grant.tsx';
import { roleLabel, useMembers, useScopes } from './scopes.ts';

const PAGE_SIZE = 200;

export function GrantTable() {
  const scopes = useScopes();
  const members = useMembers();
  const found = useInfiniteQuery(
    RoleBindingService.method.listRoleBindings,
    { pageSize: PAGE_SIZE, pageToken: '' },
    PAGING,
  );
  const grants = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const memberOf = (id: string) => nameControls(members.find(({ userId }) => userId === id)?.email ?? id);
  const scopeOf = (id: string) => scopes.find((scope) => scope.id === id)?.label ?? id;
  return (
    <>
      <Pending found={found} />
      {found.isSuccess && grants.length === 0 && (
        <Empty title="No extra roles yet">
          Every member has a role in the organization. Grant more in a team or a project.
        </Empty>
      )}
      {grants.length > 0 && (
        <Table columns={['Member', 'Role', 'Where', 'Since', 'Actions']}>
          {grants.map((grant) => (
            <tr key={grant.id}>
              <td>{memberOf(grant.userId)}</td>
              <td>
                {roleLabel(grant.role)}
                {grant.permissions.length > 0 && (
                  <span className={page.mono}> {nameControls(grant.permissions.join(', '))}</span>
                )}
              </td>
              <td>{scopeOf(grant.scopeId)}</td>
              <InstantCell at={grant.createdAt} />
              <td>
                <ConfirmButton
                  small
                  variant="danger"
                  label="Revoke"
                  title={`Revoke a grant of ${memberOf(grant.userId)}`}
                  action="Revoke the grant"
                  typed={null}
                  method={RoleBindingService.method.deleteRoleBinding}
                  input={{ id: grant.id }}
                >
                  Keys of this member lose these permissions at once. You can grant them again.
                </ConfirmButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More found={found} />
      <div>
        <ModalButton label="New grant" variant="primary">
          {(close) => <NewGrant scopes={scopes} members={members} onDone={close} />}
        </ModalButton>
      </div>
    </>
  );
}

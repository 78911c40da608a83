/** The members of the organization and their roles. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { MemberRole, MemberService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Form, Select, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useChange } from '../session/refresh.ts';

const PAGE_SIZE = 100;
const ROLES: readonly (readonly [role: MemberRole, label: string])[] = [
  [MemberRole.ADMIN, 'Administrator'],
  [MemberRole.MEMBER, 'Member'],
  [MemberRole.VIEWER, 'Viewer'],
  [MemberRole.EXTERNAL, 'Only what is granted'],
];

export default function MembersPage() {
  const found = useInfiniteQuery(MemberService.method.listMembers, { pageSize: PAGE_SIZE, pageToken: '' }, PAGING);
  const update = useChange(MemberService.method.updateMember);
  const change = (userId: string, member: { readonly role: MemberRole } | { readonly disabled: boolean }) =>
    update.mutate({ userId, member, updateMask: { paths: Object.keys(member) } });
  const members = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page
      title="Members"
      sub="People who can own keys in the organization."
      actions={
        <ModalButton label="Add a member" variant="primary">
          {(close) => <AddMember onDone={close} />}
        </ModalButton>
      }
    >
      <Pending found={found} />
      {update.isError && <FailureNotice error={update.error} />}
      {members.length > 0 && (
        <Table columns={['Name', 'E-mail', 'Role', 'Since', 'Actions']}>
          {members.map((member) => (
            <tr key={member.userId}>
              <td>
                {nameControls(member.name ?? '')} {member.disabled && <Badge tone="bad">disabled</Badge>}
              </td>
              <td>{nameControls(member.email)}</td>
              <td>
                <Select
                  aria-label={`Role of ${nameControls(member.email)}`}
                  value={member.role}
                  disabled={update.isPending}
                  options={ROLES}
                  onChange={(role) => change(member.userId, { role })}
                />
              </td>
              <InstantCell at={member.createdAt} />
              <td>
                <span className={page.buttons}>
                  <Button
                    small
                    disabled={update.isPending}
                    onClick={() => change(member.userId, { disabled: !member.disabled })}
                  >
                    {member.disabled ? 'Enable' : 'Disable'}
                  </Button>
                  <ConfirmButton
                    small
                    variant="danger"
                    label="Remove"
                    title={`Remove ${nameControls(member.email)}`}
                    action="Remove permanently"
                    typed="remove"
                    method={MemberService.method.removeMember}
                    input={{ userId: member.userId }}
                  >
                    All personal keys of this member are deleted and stop working at once. This cannot be undone.
                  </ConfirmButton>
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More found={found} />
    </Page>
  );
}

function AddMember({ onDone }: { readonly onDone: () => void }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState(MemberRole.MEMBER);
  const add = useChange(MemberService.method.createMember, onDone);
  return (
    <Form
      action="Add"
      disabled={add.isPending || email.trim() === '' || name.trim() === ''}
      error={add.error}
      onSubmit={() => add.mutate({ email: email.trim(), name: name.trim(), role })}
      onCancel={onDone}
    >
      <TextField label="E-mail" type="email" value={email} onChange={setEmail} />
      <TextField label="Name" value={name} onChange={setName} />
      <SelectField label="Role" value={role} options={ROLES} onChange={setRole} />
    </Form>
  );
}

/** The members of the organization and their roles. */

import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Member, MemberRole, MemberService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { Confirm, Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { Form, Select, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';

const PAGE_SIZE = 100;
const ROLES: readonly (readonly [role: MemberRole, label: string])[] = [
  [MemberRole.ADMIN, 'Administrator'],
  [MemberRole.MEMBER, 'Member'],
  [MemberRole.VIEWER, 'Viewer'],
  [MemberRole.EXTERNAL, 'Only what is granted'],
];

export function MembersPage() {
  const [isAdding, setAdding] = useState(false);
  const [toRemove, setToRemove] = useState<Member | null>(null);
  const refresh = useRefresh();
  const found = useInfiniteQuery(MemberService.method.listMembers, { pageSize: PAGE_SIZE, pageToken: '' }, PAGING);
  const update = useMutation(MemberService.method.updateMember, { onSuccess: refresh });
  const remove = useMutation(MemberService.method.removeMember, {
    async onSuccess() {
      setToRemove(null);
      await refresh();
    },
  });
  const members = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page
      title="Members"
      sub="People who can own keys of the organization."
      actions={
        <Button variant="primary" onClick={() => setAdding(true)}>
          Add a member
        </Button>
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
                  onChange={(chosen) =>
                    update.mutate({
                      userId: member.userId,
                      member: { role: chosen },
                      updateMask: { paths: ['role'] },
                    })
                  }
                />
              </td>
              <InstantCell at={member.createdAt} />
              <td>
                <span className={page.actions}>
                  <Button
                    small
                    disabled={update.isPending}
                    onClick={() =>
                      update.mutate({
                        userId: member.userId,
                        member: { disabled: !member.disabled },
                        updateMask: { paths: ['disabled'] },
                      })
                    }
                  >
                    {member.disabled ? 'Enable' : 'Disable'}
                  </Button>
                  <Button small variant="danger" onClick={() => setToRemove(member)}>
                    Remove
                  </Button>
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More found={found} />
      <Modal open={isAdding} onClose={() => setAdding(false)} title="Add a member">
        <AddMember onDone={() => setAdding(false)} />
      </Modal>
      <Confirm
        key={toRemove?.userId ?? ''}
        open={toRemove !== null}
        onClose={() => setToRemove(null)}
        title={`Remove ${nameControls(toRemove?.email ?? '')}`}
        action="Remove permanently"
        typed="remove"
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => toRemove && remove.mutate({ userId: toRemove.userId })}
      >
        All personal keys go too, and are refused from the next request on. This cannot be undone.
      </Confirm>
    </Page>
  );
}

function AddMember({ onDone }: { readonly onDone: () => void }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState(MemberRole.MEMBER);
  const refresh = useRefresh();
  const add = useMutation(MemberService.method.createMember, {
    async onSuccess() {
      await refresh();
      onDone();
    },
  });
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

/** The members of the organization and their roles. */

import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Member, MemberRole, MemberService } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge, Button, Field, Loading } from '../design/button.tsx';
import { Confirm, Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
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
  const found = useInfiniteQuery(
    MemberService.method.listMembers,
    { pageSize: PAGE_SIZE, pageToken: '' },
    { pageParamKey: 'pageToken', getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const update = useMutation(MemberService.method.updateMember, { onSuccess: refresh });
  const remove = useMutation(MemberService.method.removeMember, {
    async onSuccess() {
      setToRemove(null);
      await refresh();
    },
  });
  const members = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Members</h1>
          <p className={page.sub}>People who can own keys of the organization.</p>
        </div>
        <Button variant="primary" onClick={() => setAdding(true)}>
          Add a member
        </Button>
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {update.isError && <FailureNotice error={update.error} />}
      {members.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <Table columns={['Name', 'E-mail', 'Role', 'Since', 'Actions']}>
            {members.map((member) => (
              <tr key={member.userId}>
                <td>
                  {nameControls(member.name ?? '')} {member.disabled && <Badge tone="bad">disabled</Badge>}
                </td>
                <td>{nameControls(member.email)}</td>
                <td>
                  <select
                    aria-label={`Role of ${nameControls(member.email)}`}
                    value={member.role}
                    disabled={update.isPending}
                    onChange={({ target }) =>
                      update.mutate({
                        userId: member.userId,
                        member: { role: Number(target.value) },
                        updateMask: { paths: ['role'] },
                      })
                    }
                  >
                    {ROLES.map(([role, label]) => (
                      <option key={role} value={role}>
                        {label}
                      </option>
                    ))}
                  </select>
                </td>
                <td className={page.nowrap}>
                  <Instant at={member.createdAt} />
                </td>
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
            ))}{' '}
          </Table>
        </div>
      )}
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>Show more</Button>}
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
    </div>
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
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ email: email.trim(), name: name.trim(), role });
      }}
    >
      <Field label="E-mail">
        {(props) => <input {...props} type="email" value={email} onChange={({ target }) => setEmail(target.value)} />}
      </Field>
      <Field label="Name">
        {(props) => <input {...props} value={name} onChange={({ target }) => setName(target.value)} />}
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
      {add.isError && <FailureNotice error={add.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={add.isPending || email.trim() === '' || name.trim() === ''}>
          Add
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

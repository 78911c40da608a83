/** The sessions that the account may end: its own, or for an administrator all of the organization. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Session, SessionService } from '../../../gen/spandrel/v1/sessions_pb.js';
import { Badge } from '../design/button.tsx';
import { ConfirmButton } from '../design/confirm.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useMembers } from '../organization/scopes.ts';

const PAGE_SIZE = 100;

export default function SessionListPage() {
  const found = useInfiniteQuery(SessionService.method.listSessions, { pageSize: PAGE_SIZE, pageToken: '' }, PAGING);
  const sessions = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page
      title="Sessions"
      sub="Signed-in browsers. A session ends after twelve hours without use, after seven days, or with its key or its member."
    >
      <Pending found={found} />
      {sessions.length > 0 && <SessionTable sessions={sessions} />}
      <More found={found} />
    </Page>
  );
}

function SessionTable({ sessions }: { readonly sessions: readonly Session[] }) {
  const members = useMembers();
  const ownerOf = ({ userId, projectId }: Session) => {
    const owner = members.find((member) => member.userId === userId);
    if (userId === undefined) return projectId === undefined ? 'a service' : 'a project key';
    return nameControls(owner?.name || owner?.email || 'a member');
  };
  return (
    <Table columns={['Browser', 'Owner', 'Key', 'Address', 'Began', 'Last used', 'Ends', 'Actions']}>
      {sessions.map((session) => (
        <tr key={session.id}>
          <td>
            {nameControls(session.userAgent ?? 'unknown')} {session.current && <Badge tone="good">this one</Badge>}
          </td>
          <td>{ownerOf(session)}</td>
          <td className={`${page.mono} ${page.nowrap}`}>{session.apiKeyId ?? (session.projectId ? '' : 'none')}</td>
          <td className={page.mono}>{session.ip}</td>
          <InstantCell at={session.createdAt} />
          <InstantCell at={session.lastSeenAt} />
          <InstantCell at={session.expiresAt} />
          <td>
            <ConfirmButton
              small
              label="End"
              title="End the session"
              action="End the session"
              typed={null}
              method={SessionService.method.revokeSession}
              input={{ id: session.id }}
            >
              {session.current
                ? 'This is your own session: you will be signed out in every tab.'
                : 'The browser is signed out at its next request.'}
            </ConfirmButton>
          </td>
        </tr>
      ))}
    </Table>
  );
}

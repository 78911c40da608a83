/** What was done in the organization, and what was refused. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ActorKind, AuditLogService, AuditOutcome } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge, Button, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';

const PAGE_SIZE = 100;

export function AuditLogPage() {
  const found = useInfiniteQuery(
    AuditLogService.method.listAuditLog,
    { pageSize: PAGE_SIZE, pageToken: '' },
    { pageParamKey: 'pageToken', getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const entries = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className={page.page}>
      <div>
        <h1>Audit log</h1>
        <p className={page.sub}>Who did what, newest first.</p>
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {entries.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <table className={page.table}>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Action</th>
                <th scope="col">Outcome</th>
                <th scope="col">Target</th>
                <th scope="col">By</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <td className={page.nowrap}>
                    <Instant at={entry.createdAt} as="short" />
                  </td>
                  <td>{entry.action}</td>
                  <td>
                    <Badge tone={entry.outcome === AuditOutcome.SUCCESS ? 'good' : 'bad'}>{entry.code ?? 'done'}</Badge>
                  </td>
                  <td className={page.mono}>{nameControls(entry.targetId ?? '')}</td>
                  <td className={page.mono}>
                    {entry.actorUserId ?? entry.actorKeyId ?? ActorKind[entry.actorKind]?.toLowerCase()}
                  </td>
                  <td className={page.nowrap}>{nameControls(entry.ip ?? '')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>Show more</Button>}
    </div>
  );
}

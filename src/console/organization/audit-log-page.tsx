/** The audit log: changes and refused requests. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ActorKind, AuditLogService, AuditOutcome } from '../../../gen/spandrel/v1/organization_pb.js';
import { Badge, Button, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';

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
          <Table columns={['When', 'Action', 'Outcome', 'Target', 'By', 'From']}>
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
            ))}{' '}
          </Table>
        </div>
      )}
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>Show more</Button>}
    </div>
  );
}

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty, More, PAGING, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { RedeliverButton, useRedeliver } from './attempts.tsx';
import { deadReasonName } from './webhook-enums.ts';

const POLL_INTERVAL_MS = 3_000;
const PAGE_SIZE = 50;

export function DeadLetters({ id }: { readonly id: string }) {
  const found = useInfiniteQuery(
    EndpointService.method.listDeadLetters,
    { id, pageSize: PAGE_SIZE, pageToken: '' },
    { ...PAGING, refetchInterval: POLL_INTERVAL_MS },
  );
  const again = useRedeliver();
  const letters = found.data?.pages.flatMap(({ data }) => data) ?? [];
  if (!found.isSuccess) return <Pending found={found} />;
  if (letters.length === 0)
    return (
      <Empty title="No dead letters">
        Deliveries that failed every attempt are kept here for 30 days and can be sent again.
      </Empty>
    );
  return (
    <>
      {again.error && <FailureNotice error={again.error} />}
      <Table columns={['Given up', 'Why', { number: 'Attempts' }, { number: 'Events' }, 'Last error', 'Delivery']}>
        {letters.map((letter) => (
          <tr key={letter.dispatchId}>
            <InstantCell at={letter.endedAt} />
            <td>{deadReasonName(letter.deadReason)}</td>
            <td className={page.number}>{formatCount(letter.attemptCount)}</td>
            <td className={page.number}>{formatCount(letter.eventCount)}</td>
            <td>
              {letter.responseStatus} {nameControls(letter.error ?? '')}
            </td>
            <td>
              <RedeliverButton id={id} dispatchId={letter.dispatchId} again={again} />
            </td>
          </tr>
        ))}
      </Table>
      <More found={found} />
    </>
  );
}

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type Attempt, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatDuration, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty, More, PAGING, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { outcomeName } from './webhook-enums.ts';
import styles from './webhooks.module.css';

const POLL_INTERVAL_MS = 2_000;
const PAGE_SIZE = 50;

/** All attempts with their answers, newest first, refreshed automatically. */
export function Attempts({ id }: { readonly id: string }) {
  const found = useInfiniteQuery(
    EndpointService.method.listDeliveries,
    { id, pageSize: PAGE_SIZE, pageToken: '' },
    { ...PAGING, refetchInterval: POLL_INTERVAL_MS },
  );
  const attempts = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const again = useRedeliver();
  return (
    <>
      <Pending found={found} />
      {again.error && <FailureNotice error={again.error} />}
      {attempts.length === 0 && found.isSuccess && (
        <Empty title="No attempt yet">Events are sent as soon as they occur. “Send a test” sends a sample now.</Empty>
      )}
      {attempts.length > 0 && (
        <Table
          columns={[
            'When',
            'Outcome',
            'Answer',
            { number: 'Attempt' },
            { number: 'Events' },
            { number: 'Latency' },
            'Delivery',
          ]}
        >
          {attempts.map((attempt) => (
            <Row key={attempt.id} id={id} attempt={attempt} again={again} />
          ))}
        </Table>
      )}
      <More found={found} />
    </>
  );
}

type RowProps = { readonly id: string; readonly attempt: Attempt; readonly again: Redelivery };

function Row({ id: endpointId, attempt, again }: RowProps) {
  const outcome = outcomeName(attempt.outcome);
  // Hides an error that only repeats the status.
  const detail = attempt.error === `HTTP ${attempt.responseStatus}` ? '' : (attempt.error ?? '');
  return (
    <tr>
      <InstantCell at={attempt.firedAt} as="short" />
      <td>
        <Badge tone={outcome.tone}>{outcome.text}</Badge> {attempt.test && <Badge>test</Badge>}
      </td>
      <td>
        {attempt.responseStatus ?? (detail ? '' : NONE)} {nameControls(detail)}
        {(attempt.responseBody || attempt.eventIds.length > 0) && (
          <details>
            <summary>Details</summary>
            {attempt.responseBody && (
              <>
                <p>The answer</p>
                <pre className={styles.answer}>{nameControls(attempt.responseBody)}</pre>
              </>
            )}
            <p>
              The request: <span className={page.mono}>webhook-id: {attempt.dispatchId}</span>, with
            </p>
            <ul className={styles.answer}>
              {attempt.eventIds.map((id) => (
                <li key={id}>
                  <EventId id={id} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </td>
      <td className={page.number}>{formatCount(attempt.attempt)}</td>
      <td className={page.number}>{formatCount(attempt.eventCount)}</td>
      <td className={page.number}>{formatDuration(attempt.latencyMs)}</td>
      <td>{!attempt.test && <RedeliverButton id={endpointId} dispatchId={attempt.dispatchId} again={again} />}</td>
    </tr>
  );
}

/** The ids of request events end so. The log has no others: those of virtual keys and budgets, and tests, are only pushed. */
const LOGGED = /:(?:settled|completed(?::(?:[2-9]|10))?)$/;

/** Leads to the envelope that was sent, where the log has it. */
function EventId({ id }: { readonly id: string }) {
  if (!LOGGED.test(id)) return nameControls(id);
  return (
    <Link to="/-/events" search={{ event: id }}>
      {nameControls(id)}
    </Link>
  );
}

/** Redelivers deliveries one by one. */
export function useRedeliver() {
  return useChange(EndpointService.method.redeliverDelivery);
}

type Redelivery = ReturnType<typeof useRedeliver>;
type RedeliverButtonProps = { readonly id: string; readonly dispatchId: string; readonly again: Redelivery };

export function RedeliverButton({ id, dispatchId, again: { isPending, variables, mutate } }: RedeliverButtonProps) {
  const { may } = useSession();
  if (!may('webhookEndpoints:manage')) return null;
  return (
    <Button small disabled={isPending} onClick={() => mutate({ id, dispatchId })} title={dispatchId}>
      {isPending && variables?.dispatchId === dispatchId ? 'Redelivering…' : 'Redeliver'}
    </Button>
  );
}

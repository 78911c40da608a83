import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type Attempt, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Button, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatDuration, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
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
  const again = useRedeliver(id);
  if (found.isPending) return <Loading />;
  return (
    <>
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {again.error && <FailureNotice error={again.error} />}
      {attempts.length === 0 && found.isSuccess && (
        <div className={page.empty}>
          <h2>No attempt yet</h2>
          <p>Events are sent as soon as they occur. “Send a test” sends a sample now.</p>
        </div>
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
            <Row key={attempt.id} attempt={attempt} again={again} />
          ))}
        </Table>
      )}
      <More found={found} />
    </>
  );
}

function Row({ attempt, again }: { readonly attempt: Attempt; readonly again: Redelivery }) {
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
      <td>{!attempt.test && <RedeliverButton again={again} dispatchId={attempt.dispatchId} />}</td>
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

type Redelivery = {
  readonly error: unknown;
  /** The id of the delivery that is being redelivered. */
  readonly pending: string | null;
  /** Null if the key may not redeliver. */
  readonly redeliver: ((dispatchId: string) => void) | null;
};

type RedeliverButtonProps = { readonly again: Redelivery; readonly dispatchId: string };

export function RedeliverButton({ again: { redeliver, pending }, dispatchId }: RedeliverButtonProps) {
  if (!redeliver) return null;
  return (
    <Button small disabled={pending !== null} onClick={() => redeliver(dispatchId)} title={dispatchId}>
      {pending === dispatchId ? 'Redelivering…' : 'Redeliver'}
    </Button>
  );
}

export function useRedeliver(id: string): Redelivery {
  const { may } = useSession();
  const refresh = useRefresh();
  const { error, mutate, isPending, variables } = useMutation(EndpointService.method.redeliverDelivery, {
    onSuccess: refresh,
  });
  const redeliver = may('webhookEndpoints:manage') ? (dispatchId: string) => mutate({ id, dispatchId }) : null;
  return { error, redeliver, pending: isPending ? (variables.dispatchId ?? '') : null };
}

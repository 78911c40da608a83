import { useQuery } from '@connectrpc/connect-query';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { Skeleton } from '../design/button.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';

const POLL_INTERVAL_MS = 3_000;
const CARD_PX = 74;
/** The server counts no further. */
const COUNTED_MAX = 10_000n;

/** What the monitors of the project have not evaluated yet. */
export function Backlog() {
  const { data, error, refetch } = useQuery(
    MonitorService.method.getMonitorBacklog,
    {},
    { refetchInterval: POLL_INTERVAL_MS },
  );
  if (error) return <FailureNotice error={error} retry={refetch} />;
  if (!data) return <Skeleton height={CARD_PX} />;
  const facts: readonly Fact[] = [
    ['Waiting', formatSome(data.due)],
    ['Waiting longest since', <Instant key="oldest" at={data.oldestDueAt} />],
    ['Not due yet', formatSome(data.scheduled)],
    ['Running', formatSome(data.running)],
  ];
  return (
    <section aria-label="Backlog" className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
      {data.tracesRefused > 0n && (
        <p>
          The queue was full: {formatCount(data.tracesRefused)} traces were stored without an evaluation since the
          server started.
        </p>
      )}
    </section>
  );
}

function formatSome(count: bigint): string {
  return count < COUNTED_MAX ? formatCount(count) : `${formatCount(COUNTED_MAX)} or more`;
}

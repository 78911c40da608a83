/** One endpoint: its health, its deliveries and its actions. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Skeleton } from '../design/button.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatDuration, formatShare, nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { Attempts } from './attempts.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { Replay } from './replay.tsx';
import { addressOf, disabledReasonName, endpointStatusName } from './webhook-enums.ts';

const route = getRouteApi('/-/webhooks/$endpointId');

const TABS = [
  ['attempts', 'Attempts'],
  ['dead', 'Dead letters'],
  ['replay', 'Replay'],
] as const;
const POLL_INTERVAL_MS = 3_000;
const CARD_PX = 74;

export default function WebhookPage() {
  const { endpointId } = route.useParams();
  const { tab = 'attempts' } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(EndpointService.method.getEndpoint, { id: endpointId });
  return (
    <DetailPage
      back={<Back to="/-/webhooks" label="Webhooks" />}
      found={found}
      item={found.data?.data}
      show={(endpoint) => ({
        title: nameControls(addressOf(endpoint)),
        sub: nameControls(endpoint.enabledEvents.map((type) => (type === '*' ? 'All events' : type)).join(', ')),
        actions: <EndpointActions endpoint={endpoint} />,
        children: (
          <>
            {endpoint.disabledReason !== undefined && (
              <p role="status">{disabledReasonName(endpoint.disabledReason)} Its deliveries wait.</p>
            )}
            <Health id={endpoint.id} />
            <Tabs
              label="Parts of the endpoint"
              tabs={TABS}
              shown={tab}
              onShow={(name) =>
                void navigate({
                  // Keeps the id of a running replay, so that its tab shows it again.
                  search: ({ replay }) => ({ ...(replay && { replay }), ...(name !== 'attempts' && { tab: name }) }),
                })
              }
            />
            {tab === 'attempts' && <Attempts id={endpoint.id} />}
            {tab === 'dead' && <DeadLetters id={endpoint.id} />}
            {tab === 'replay' && <Replay id={endpoint.id} />}
          </>
        ),
      })}
    />
  );
}

function Health({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(
    EndpointService.method.getEndpointHealth,
    { id },
    { refetchInterval: POLL_INTERVAL_MS },
  );
  if (error) return <FailureNotice error={error} retry={refetch} />;
  const health = data?.data;
  if (!health) return <Skeleton height={CARD_PX} />;
  const status = endpointStatusName(health.status, health.failingSince);
  const facts: readonly Fact[] = [
    [
      'Status',
      <Badge key="status" tone={status.tone}>
        {status.text}
      </Badge>,
    ],
    ['Succeeded, last hour', formatShare(health.successRate)],
    ['Latency, p95', formatDuration(health.p95LatencyMs)],
    ['Events not sent yet', formatCount(health.extras?.queuedEvents)],
    ['Deliveries being retried', formatCount(health.extras?.retrying)],
    ['Oldest undelivered event', formatDuration(health.oldestUndeliveredAgeMs)],
    ['Dead letters', formatCount(health.dlqDepth)],
    ['Last delivered', <Instant key="delivered" at={health.lastSuccessAt} />],
    ['Last failed', <Instant key="failed" at={health.lastFailureAt} />],
  ];
  return (
    <div className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
      {health.extras?.description && <p className={page.soft}>{nameControls(health.extras.description)}</p>}
    </div>
  );
}

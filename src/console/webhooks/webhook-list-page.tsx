import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Endpoint, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Button, Loading, Snippet } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { SecretOnce } from '../design/secret-once.tsx';
import { Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { NewEndpoint } from './new-endpoint.tsx';
import { addressOf, endpointStatusName } from './webhook-enums.ts';

const PAGE_SIZE = 100;

export function WebhookListPage() {
  const { may } = useSession();
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const found = useInfiniteQuery(
    EndpointService.method.listEndpoints,
    { pageSize: PAGE_SIZE, pageToken: '' },
    { pageParamKey: 'pageToken', getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const endpoints = found.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Webhooks</h1>
          <p className={page.sub}>Events of the organization, pushed to receivers of yours, signed.</p>
        </div>
        {may('webhookEndpoints:manage') && (
          <Button variant="primary" onClick={() => setMaking(true)}>
            New endpoint
          </Button>
        )}
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.isSuccess && endpoints.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No endpoint yet</h2>
          <p>Create one: every event that it subscribes to is sent to its URL until the receiver accepts it.</p>
        </div>
      )}
      {endpoints.length > 0 && <EndpointTable endpoints={endpoints} />}
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>Show more</Button>}
      <NewEndpoint
        open={isMaking}
        onClose={() => setMaking(false)}
        onMade={(made) => {
          setMaking(false);
          setSecret(made);
        }}
      />
      <SecretOnce secret={secret} title="The secret of the endpoint" onClose={() => setSecret(null)}>
        <Snippet title="A receiver that verifies, in Node" code={RECEIVER_CODE} />
      </SecretOnce>
    </div>
  );
}

function EndpointTable({ endpoints }: { readonly endpoints: readonly Endpoint[] }) {
  return (
    <div className={`${page.card} ${page.scroll}`}>
      <Table columns={['Destination', 'Status', 'Events', 'Last delivered', 'Made']}>
        {endpoints.map((endpoint) => {
          const status = endpointStatusName(endpoint.status, endpoint.failingSince);
          return (
            <tr key={endpoint.id}>
              <td className={page.mono}>
                <Link to="/-/webhooks/$endpointId" params={{ endpointId: endpoint.id }}>
                  {nameControls(addressOf(endpoint))}
                </Link>
              </td>
              <td>
                <Badge tone={status.tone}>{status.text}</Badge>
              </td>
              <td className={page.mono}>
                {nameControls(endpoint.enabledEvents.map((type) => (type === '*' ? 'all' : type)).join(', '))}
              </td>
              <td className={page.nowrap}>
                <Instant at={endpoint.lastSuccessAt} />
              </td>
              <td className={page.nowrap}>
                <Instant at={endpoint.createdAt} />
              </td>
            </tr>
          );
        })}{' '}
      </Table>
    </div>
  );
}

/** A receiver that verifies signatures. */
const RECEIVER_CODE = [
  "import { createServer } from 'node:http';",
  "import { Webhook } from 'standardwebhooks';",
  '',
  "const webhook = new Webhook('whsec_…');",
  'createServer(async (request, response) => {',
  '  const chunks = [];',
  '  for await (const chunk of request) chunks.push(chunk);',
  '  try {',
  '    const { batch } = webhook.verify(Buffer.concat(chunks), request.headers);',
  '    console.log(batch.map((event) => event.type));',
  '    response.writeHead(204).end();',
  '  } catch {',
  '    response.writeHead(401).end();',
  '  }',
  '}).listen(8080);',
].join('\n');

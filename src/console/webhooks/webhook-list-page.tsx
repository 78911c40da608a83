import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Endpoint, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Snippet } from '../design/button.tsx';
import { ModalButton, SecretOnce } from '../design/confirm.tsx';
import { nameControls } from '../design/format.ts';
import { inPages, ListPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { PAGING } from '../design/page.tsx';
import { InstantCell } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { NewEndpoint } from './new-endpoint.tsx';
import { addressOf, endpointStatusName } from './webhook-enums.ts';

const PAGE_SIZE = 100;

export default function WebhookListPage() {
  const { may } = useSession();
  const [secret, setSecret] = useState<string | null>(null);
  const found = useInfiniteQuery(EndpointService.method.listEndpoints, { pageSize: PAGE_SIZE, pageToken: '' }, PAGING);
  return (
    <ListPage
      title="Webhooks"
      sub="Signed HTTP calls that deliver the events of the organization to your servers."
      actions={
        may('webhookEndpoints:manage') && (
          <ModalButton label="New endpoint" variant="primary">
            {(close) => <NewEndpoint onClose={close} onMade={setSecret} />}
          </ModalButton>
        )
      }
      found={found}
      items={inPages}
      empty={{
        title: 'No endpoint yet',
        text: 'Create one: each event it subscribes to is sent to its URL until the receiver accepts it.',
      }}
      columns={['Destination', 'Status', 'Events', 'Last delivered', 'Created']}
      row={rowOf}
    >
      <SecretOnce secret={secret} title="The secret of the endpoint" onClose={() => setSecret(null)}>
        <Snippet title="A receiver that verifies, in Node" code={RECEIVER_CODE} />
      </SecretOnce>
    </ListPage>
  );
}

function rowOf(endpoint: Endpoint) {
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
      <InstantCell at={endpoint.lastSuccessAt} />
      <InstantCell at={endpoint.createdAt} />
    </tr>
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

/** The actions on an endpoint that the key permits. */

import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type Endpoint,
  EndpointService,
  EndpointStatus,
  type EndpointTest,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { ConfirmButton, SecretOnce } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { ChangeEndpoint } from './change-endpoint.tsx';

export function EndpointActions({ endpoint }: { readonly endpoint: Endpoint }) {
  const { may } = useSession();
  const navigate = useNavigate();
  const { id } = endpoint;
  const test = useChange(EndpointService.method.testEndpoint);
  const update = useChange(EndpointService.method.updateEndpoint);
  if (!may('webhookEndpoints:manage')) return null;
  const isActive = endpoint.status === EndpointStatus.ACTIVE;
  const status = isActive ? EndpointStatus.DISABLED : EndpointStatus.ACTIVE;
  return (
    <div>
      <div className={page.row}>
        <Button disabled={test.isPending} onClick={() => test.mutate({ id })}>
          Send a test
        </Button>
        <Button
          disabled={update.isPending}
          onClick={() => update.mutate({ id, endpoint: { status }, updateMask: { paths: ['status'] } })}
        >
          {isActive ? 'Disable' : 'Enable'}
        </Button>
        <ChangeEndpoint endpoint={endpoint} />
        <RollSecret id={id} />
        <ConfirmButton
          label="Archive"
          variant="danger"
          title="Archive the endpoint"
          action="Archive permanently"
          typed="archive"
          method={EndpointService.method.archiveEndpoint}
          input={{ id }}
          onDone={() => navigate({ to: '/-/webhooks' })}
        >
          It receives nothing more, its deliveries are cancelled, and it disappears from lists. This cannot be undone.
        </ConfirmButton>
      </div>
      <div role="status">{test.data?.data && <TestOutcome outcome={test.data.data} />}</div>
      {(test.error ?? update.error) && <FailureNotice error={test.error ?? update.error} />}
    </div>
  );
}

function TestOutcome({ outcome }: { readonly outcome: EndpointTest }) {
  const detail = outcome.error ?? outcome.responseBody ?? '';
  return (
    <p>
      <Badge tone={outcome.delivered ? 'good' : 'bad'}>{outcome.delivered ? 'Test delivered' : 'Test failed'}</Badge>{' '}
      {outcome.responseStatus} {detail === `HTTP ${outcome.responseStatus}` ? '' : nameControls(detail)}
    </p>
  );
}

function RollSecret({ id }: { readonly id: string }) {
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ConfirmButton
        label="Roll secret"
        title="Roll the secret"
        action="Roll the secret"
        typed={null}
        method={EndpointService.method.rollEndpointSecret}
        input={{ id }}
        onDone={({ data }) => setSecret(data?.secret ?? null)}
      >
        A new secret signs from now on. The one before signs beside it for a day, so that receivers can change over.
      </ConfirmButton>
      <SecretOnce secret={secret} title="The new secret" onClose={() => setSecret(null)} />
    </>
  );
}

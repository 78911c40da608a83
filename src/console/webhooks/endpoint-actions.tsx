/** The actions on an endpoint that the key permits. */

import { useMutation } from '@connectrpc/connect-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type Endpoint,
  EndpointService,
  EndpointStatus,
  type EndpointTest,
  type RollEndpointSecretResponse,
} from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { ConfirmButton, SecretOnce } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { ChangeEndpoint } from './change-endpoint.tsx';

export function EndpointActions({ endpoint }: { readonly endpoint: Endpoint }) {
  const { may } = useSession();
  const refresh = useRefresh();
  const { id } = endpoint;
  const test = useMutation(EndpointService.method.testEndpoint, { onSuccess: refresh });
  const update = useMutation(EndpointService.method.updateEndpoint, { onSuccess: refresh });
  if (!may('webhookEndpoints:manage')) return null;
  const isActive = endpoint.status === EndpointStatus.ACTIVE;
  const status = isActive ? EndpointStatus.DISABLED : EndpointStatus.ACTIVE;
  return (
    <div>
      <div className={page.actions}>
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
        <Archive id={id} />
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
  const roll = useMutation(EndpointService.method.rollEndpointSecret);
  return (
    <>
      <ConfirmButton
        label="Roll secret"
        title="Roll the secret"
        action="Roll the secret"
        typed={null}
        pending={roll.isPending}
        error={roll.error}
        onConfirm={(close) => {
          const onSuccess = ({ data }: RollEndpointSecretResponse) => {
            close();
            setSecret(data?.secret ?? null);
          };
          roll.mutate({ id }, { onSuccess });
        }}
      >
        A new secret signs from now on. The one before signs beside it for a day, so that receivers can change over.
      </ConfirmButton>
      <SecretOnce secret={secret} title="The new secret" onClose={() => setSecret(null)} />
    </>
  );
}

function Archive({ id }: { readonly id: string }) {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const archive = useMutation(EndpointService.method.archiveEndpoint, {
    async onSuccess() {
      await navigate({ to: '/-/webhooks' });
      await refresh();
    },
  });
  return (
    <ConfirmButton
      label="Archive"
      variant="danger"
      title="Archive the endpoint"
      action="Archive permanently"
      typed="archive"
      pending={archive.isPending}
      error={archive.error}
      onConfirm={() => archive.mutate({ id })}
    >
      It receives nothing more, its deliveries are cancelled, and lists do not show it any more. This cannot be undone.
    </ConfirmButton>
  );
}

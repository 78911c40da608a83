import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Endpoint, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Button } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import { useRefresh } from '../session/refresh.ts';
import { EndpointForm } from './endpoint-form.tsx';

/** Changes what the form of a new endpoint sets. */
export function ChangeEndpoint({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id, destination, enabledEvents } = endpoint;
  const [isChanging, setChanging] = useState(false);
  const refresh = useRefresh();
  // An endpoint comes without its description; its health has it.
  const health = useQuery(EndpointService.method.getEndpointHealth, { id });
  const described = health.data?.data?.extras?.description ?? '';
  const update = useMutation(EndpointService.method.updateEndpoint, {
    async onSuccess() {
      await refresh();
      setChanging(false);
    },
  });
  const before = destination.case === 'url' ? destination.value : null;
  return (
    <>
      <Button
        disabled={!health.isSuccess}
        onClick={() => {
          update.reset();
          setChanging(true);
        }}
      >
        Change
      </Button>
      <Modal open={isChanging} onClose={() => setChanging(false)} title="Change the endpoint">
        <EndpointForm
          start={{ url: before, description: described, events: enabledEvents }}
          action="Save"
          pending={update.isPending}
          error={update.error}
          onSubmit={({ url, description, events }) =>
            update.mutate({
              id,
              endpoint: {
                enabledEvents: [...events],
                ...(description && { description }),
                ...(url !== null && url !== before && { destination: { case: 'url', value: url } }),
              },
              // A description that is named and empty is removed.
              updateMask: { paths: ['enabled_events', 'description', ...(url === before ? [] : ['url'])] },
            })
          }
          onCancel={() => setChanging(false)}
        />
      </Modal>
    </>
  );
}

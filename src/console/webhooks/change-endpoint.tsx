import { useQuery } from '@connectrpc/connect-query';
import { type Endpoint, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { ModalButton } from '../design/confirm.tsx';
import { useChange } from '../session/refresh.ts';
import { EndpointForm } from './endpoint-form.tsx';

/** Changes what the form of a new endpoint sets. */
export function ChangeEndpoint({ endpoint }: { readonly endpoint: Endpoint }) {
  // An endpoint comes without its description; its health has it.
  const health = useQuery(EndpointService.method.getEndpointHealth, { id: endpoint.id });
  const described = health.data?.data?.extras?.description ?? '';
  return (
    <ModalButton label="Change" title="Change the endpoint" disabled={!health.isSuccess}>
      {(close) => <Change endpoint={endpoint} described={described} onDone={close} />}
    </ModalButton>
  );
}

type ChangeProps = { readonly endpoint: Endpoint; readonly described: string; readonly onDone: () => void };

function Change({ endpoint: { id, destination, enabledEvents }, described, onDone }: ChangeProps) {
  const update = useChange(EndpointService.method.updateEndpoint, onDone);
  const before = destination.case === 'url' ? destination.value : null;
  return (
    <EndpointForm
      start={{ url: before, description: described, events: enabledEvents }}
      action="Save"
      call={update}
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
      onCancel={onDone}
    />
  );
}

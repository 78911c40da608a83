import { useMutation } from '@connectrpc/connect-query';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { useRefresh } from '../session/refresh.ts';
import { type EndpointDraft, EndpointForm, EVERYTHING } from './endpoint-form.tsx';

type NewEndpointProps = { readonly onClose: () => void; readonly onMade: (secret: string) => void };

const EMPTY: EndpointDraft = { url: '', description: '', events: [EVERYTHING] };

export function NewEndpoint({ onClose, onMade }: NewEndpointProps) {
  const refresh = useRefresh();
  const create = useMutation(EndpointService.method.createEndpoint, {
    onSuccess({ data }) {
      onClose();
      onMade(data?.secret ?? '');
      void refresh();
    },
  });
  return (
    <EndpointForm
      start={EMPTY}
      action="Create the endpoint"
      call={create}
      onSubmit={({ url, description, events }) =>
        create.mutate({
          destination: { case: 'url', value: url ?? '' },
          enabledEvents: [...events],
          ...(description && { description }),
        })
      }
      onCancel={onClose}
    />
  );
}

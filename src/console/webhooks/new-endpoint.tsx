import { useMutation } from '@connectrpc/connect-query';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Modal } from '../design/confirm.tsx';
import { useRefresh } from '../session/refresh.ts';
import { type EndpointDraft, EndpointForm, EVERYTHING } from './endpoint-form.tsx';

type NewEndpointProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
};

const EMPTY: EndpointDraft = { url: '', description: '', events: [EVERYTHING] };

export function NewEndpoint({ open, onClose, onMade }: NewEndpointProps) {
  return (
    <Modal open={open} onClose={onClose} title="New endpoint">
      <Create onClose={onClose} onMade={onMade} />
    </Modal>
  );
}

function Create({ onClose, onMade }: Omit<NewEndpointProps, 'open'>) {
  const refresh = useRefresh();
  const create = useMutation(EndpointService.method.createEndpoint, {
    onSuccess({ data }) {
      onMade(data?.secret ?? '');
      void refresh();
    },
  });
  return (
    <EndpointForm
      start={EMPTY}
      action="Create the endpoint"
      pending={create.isPending}
      error={create.error}
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

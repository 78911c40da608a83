/** The queues of traces to review of a project, and the form for a new one. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import { ModalButton } from '../design/confirm.tsx';
import { AreaField, Form, TextField, useDraft } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { ListPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { InstantCell } from '../design/table.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const route = getRouteApi('/$slug/queues');

export default function QueueListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(AnnotationQueueService.method.listAnnotationQueues);
  return (
    <ListPage
      title="Review queues"
      sub="Traces that reviewers go through one after the other. No two reviewers get the same one."
      actions={
        may('annotations:manage') && (
          <ModalButton label="New queue" variant="primary">
            {(close) => <NewQueue onClose={close} />}
          </ModalButton>
        )
      }
      found={found}
      items={({ queues }) => queues}
      empty={{ title: 'No queue yet', text: 'Make one, add traces to it, and claim them one after the other.' }}
      columns={['Name', { number: 'Pending' }, { number: 'Claimed' }, { number: 'Done' }, 'Made']}
      row={(queue) => (
        <tr key={queue.id}>
          <td>
            <Link to="/$slug/queues/$queueId" params={{ slug, queueId: queue.id }}>
              {nameControls(queue.name ?? queue.id)}
            </Link>
          </td>
          <td className={page.number}>{formatCount(queue.pending)}</td>
          <td className={page.number}>{formatCount(queue.claimed)}</td>
          <td className={page.number}>{formatCount(queue.done)}</td>
          <InstantCell at={queue.createdAt} />
        </tr>
      )}
    />
  );
}

function NewQueue({ onClose }: { readonly onClose: () => void }) {
  const { slug } = route.useParams();
  const navigate = route.useNavigate();
  const [draft, change] = useDraft({ name: '', description: '' });
  const make = useChange(AnnotationQueueService.method.createAnnotationQueue, ({ queue }) =>
    navigate({ to: '/$slug/queues/$queueId', params: { slug, queueId: queue?.id ?? '' } }),
  );
  return (
    <Form
      action="Make the queue"
      disabled={make.isPending || draft.name.trim() === ''}
      error={make.error}
      onSubmit={() => make.mutate(draft)}
      onCancel={onClose}
    >
      <TextField label="Name" field="name" maxLength={128} value={draft.name} onChange={(name) => change({ name })} />
      <AreaField
        label="What reviewers look for"
        field="description"
        rows={3}
        value={draft.description}
        onChange={(description) => change({ description })}
      />
    </Form>
  );
}

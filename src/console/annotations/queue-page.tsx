/** One queue: a reviewer claims a trace, annotates it, and goes on to the next, all by keys. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type AnnotationQueue,
  type AnnotationQueueItem,
  AnnotationQueueService,
} from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import type { TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../design/button.tsx';
import { ModalButton } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { AreaField, Form } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { Back, Pending } from '../design/page.tsx';
import { useKeys } from '../layout/keys.tsx';
import { useChange, useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { ConversationZone } from '../trace/conversation-zone.tsx';
import { useTrace } from '../trace/use-trace.ts';
import { PeopleZone } from './people-zone.tsx';

const route = getRouteApi('/$slug/queues/$queueId');

export default function QueuePage() {
  const { slug, queueId } = route.useParams();
  const { may } = useSession();
  const found = useQuery(AnnotationQueueService.method.getAnnotationQueue, { id: queueId });
  return (
    <DetailPage
      back={<Back to="/$slug/queues" params={{ slug }} label="Review queues" />}
      found={found}
      item={found.data?.queue}
      show={(queue) => ({
        title: nameControls(queue.name ?? queue.id),
        sub: `${formatCount(queue.pending)} pending · ${formatCount(queue.claimed)} claimed · ${formatCount(queue.done)} done`,
        actions: may('annotations:create') && (
          <ModalButton label="Add traces" title="Add traces to this queue">
            {(close) => <AddTraces queueId={queue.id} onClose={close} />}
          </ModalButton>
        ),
        children: may('annotations:update') ? <Review queue={queue} /> : <p>You may look at this queue only.</p>,
      })}
    />
  );
}

function Review({ queue }: { readonly queue: AnnotationQueue }) {
  const refresh = useRefresh();
  const [item, setItem] = useState<AnnotationQueueItem | null>(null);
  const { claimAnnotationQueueItem, completeAnnotationQueueItem, releaseAnnotationQueueItem } =
    AnnotationQueueService.method;
  const claim = useMutation(claimAnnotationQueueItem, {
    onSuccess: async (answer) => {
      setItem(answer.item ?? null);
      await refresh();
    },
    onError: () => setItem(null),
  });
  const next = () => claim.mutate({ id: queue.id, resume: true });
  const complete = useMutation(completeAnnotationQueueItem, { onSuccess: next });
  const release = useMutation(releaseAnnotationQueueItem, {
    onSuccess: async () => {
      setItem(null);
      await refresh();
    },
  });
  const isBusy = claim.isPending || complete.isPending || release.isPending;
  const named = { id: queue.id, itemId: item?.id ?? '' };
  const finish = () => item !== null && !isBusy && complete.mutate(named);
  const giveBack = () => item !== null && !isBusy && release.mutate(named);
  useKeys('Review', [
    { keys: ['n'], label: 'Claim the next trace', act: () => item === null && !isBusy && next() },
    { keys: ['d'], label: 'Done, and the next one', act: finish },
    { keys: ['r'], label: 'Give it back', act: giveBack },
  ]);
  const error = complete.error ?? release.error ?? claim.error;
  return (
    <>
      {queue.description && <p className={page.prose}>{nameControls(queue.description)}</p>}
      <div className={page.row}>
        {item === null ? (
          <Button variant="primary" disabled={isBusy} onClick={next}>
            Claim the next trace
          </Button>
        ) : (
          <>
            <Button variant="primary" disabled={isBusy} onClick={finish}>
              Done, and the next one
            </Button>
            <Button disabled={isBusy} onClick={giveBack}>
              Give it back
            </Button>
          </>
        )}
      </div>
      {error && <FailureNotice error={error} />}
      {item !== null && <ClaimedTrace key={item.id} traceId={item.traceId} />}
    </>
  );
}

function ClaimedTrace({ traceId }: { readonly traceId: string }) {
  const { slug } = route.useParams();
  const [chosen, setChosen] = useState<TraceSpan | null>(null);
  const { found, trace, spans } = useTrace(traceId);
  if (!trace) return <Pending found={found} />;
  return (
    <>
      <p>
        <Link to="/$slug/traces/$traceId" params={{ slug, traceId }}>
          {nameControls(trace.name) || traceId}
        </Link>
      </p>
      <PeopleZone trace={trace} chosen={chosen} />
      <ConversationZone trace={trace} spans={spans} chosen={chosen} onChoose={setChosen} />
    </>
  );
}

function AddTraces({ queueId, onClose }: { readonly queueId: string; readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const add = useChange(AnnotationQueueService.method.addAnnotationQueueItems, onClose);
  const traceIds = text.split(/\s+/).filter((id) => id !== '');
  return (
    <Form
      action="Add them"
      disabled={add.isPending || traceIds.length === 0}
      error={add.error}
      onSubmit={() => add.mutate({ id: queueId, traceIds })}
      onCancel={onClose}
    >
      <AreaField label="Ids of traces" hint="One in each line, up to 1,000." rows={6} value={text} onChange={setText} />
    </Form>
  );
}

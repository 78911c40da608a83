/** One queue: a reviewer claims a trace, annotates it, and goes on to the next, all by keys. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type AnnotationQueue, AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import type { TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../design/button.tsx';
import { Confirm, ModalButton } from '../design/confirm.tsx';
import controls from '../design/controls.module.css';
import { FailureNotice } from '../design/failure.tsx';
import { AreaField, Form } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { Back, Pending } from '../design/page.tsx';
import { useKeys } from '../layout/keys.tsx';
import { useChange } from '../session/refresh.ts';
import { useProject, useSession } from '../session/session.tsx';
import { ConversationZone } from '../trace/conversation-zone.tsx';
import { useTrace } from '../trace/use-trace.ts';
import { annotationKey, dropAnnotation, hasUnsaved } from './open-annotations.ts';
import { PeopleZone } from './people-zone.tsx';
import { useClaim } from './use-claim.ts';

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
        children: may('annotations:update') ? (
          <Review key={queue.id} queue={queue} />
        ) : (
          <p>You may look at this queue only.</p>
        ),
      })}
    />
  );
}

function Review({ queue }: { readonly queue: AnnotationQueue }) {
  const { item, lost, error, isBusy, next, ...ends } = useClaim(queue.id);
  const [asked, setAsked] = useState<'finish' | 'giveBack' | null>(null);
  const key = annotationKey(useProject().id, item?.traceId ?? '');
  const end = (how: 'finish' | 'giveBack') => {
    if (item === null || isBusy) return;
    if (hasUnsaved(key)) setAsked(how);
    else ends[how]();
  };
  useKeys('Review', [
    { keys: ['n'], label: 'Claim the next trace', act: () => item === null && !isBusy && next() },
    { keys: ['d'], label: 'Done, and the next one', act: () => end('finish') },
    { keys: ['r'], label: 'Give it back', act: () => end('giveBack') },
  ]);
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
            <Button variant="primary" disabled={isBusy} onClick={() => end('finish')}>
              Done, and the next one
            </Button>
            <Button disabled={isBusy} onClick={() => end('giveBack')}>
              Give it back
            </Button>
          </>
        )}
      </div>
      {error != null && <FailureNotice error={error} />}
      {lost !== null && <LostClaim traceId={lost} />}
      {item !== null && <ClaimedTrace key={item.id} traceId={item.traceId} />}
      {item !== null && asked !== null && (
        <Confirm
          title="The annotation is not saved"
          action={asked === 'finish' ? 'Drop it, and finish' : 'Drop it, and give the trace back'}
          typed={null}
          call={{ isPending: isBusy, error: null }}
          onClose={() => setAsked(null)}
          onConfirm={() => {
            setAsked(null);
            dropAnnotation(key);
            ends[asked]();
          }}
        >
          What you typed about this trace is not saved yet. Cancel, and save it first, or go on without it.
        </Confirm>
      )}
    </>
  );
}

/** What was typed stays with the trace. */
function LostClaim({ traceId }: { readonly traceId: string }) {
  const { slug, id } = useProject();
  return (
    <div className={controls.notice} role="alert">
      <span className={controls.noticeTitle}>You no longer hold the trace</span>
      <span>A claim ends after ten minutes in which nobody looks at this page. Another reviewer may have it now.</span>
      <span>
        <Link to="/$slug/traces/$traceId" params={{ slug, traceId }}>
          Open the trace
        </Link>
        {hasUnsaved(annotationKey(id, traceId)) && ', where the annotation that you began is kept'}.
      </span>
    </div>
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

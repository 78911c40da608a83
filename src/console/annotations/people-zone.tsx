/** What people say about a trace, or about the chosen span: feedback of users and annotations of reviewers. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Annotation, AnnotationScoreService, AnnotationService } from '../../../gen/spandrel/v1/annotations_pb.js';
import type { Trace, TraceEvent, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useKeys } from '../layout/keys.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useLinkedProject, useMay, useProject } from '../session/session.tsx';
import styles from '../trace/detail.module.css';
import { Section } from '../trace/section.tsx';
import { AnnotationForm } from './annotation-form.tsx';
import { EntryForm } from './entry-form.tsx';
import { annotationKey } from './open-annotations.ts';
import { scoresOf, wordsOfEvent } from './said.ts';
import { useOpenAnnotation } from './use-open-annotation.ts';

type PeopleZoneProps = { readonly trace: Trace; readonly chosen: TraceSpan | null };

export function PeopleZone({ trace, chosen }: PeopleZoneProps) {
  const project = useLinkedProject();
  const may = useMay();
  return (
    <>
      {chosen === null && trace.events.length > 0 && (
        <Section title="Feedback">
          {trace.events.map((event) => (
            <FeedbackCard key={event.eventId} event={event} />
          ))}
        </Section>
      )}
      {project !== null && may('annotations:view') && (
        // Another trace has a form of its own.
        <Annotations key={trace.traceId} trace={trace} chosen={chosen} />
      )}
    </>
  );
}

function FeedbackCard({ event }: { readonly event: TraceEvent }) {
  const { vote, metrics, details } = wordsOfEvent(event);
  return (
    <article className={styles.bubble}>
      <div className={page.row}>
        {vote === null ? <h3>{event.eventType}</h3> : <Badge tone={vote.tone}>{vote.label}</Badge>}
        {metrics !== '' && <span>{metrics}</span>}
        <span className={page.soft}>
          <Instant at={event.timestamps?.startedAt} />
        </span>
      </div>
      {details.map(([name, text]) => (
        <p key={name} className={page.prose}>
          {name === 'feedback' ? text : `${name}: ${text}`}
        </p>
      ))}
    </article>
  );
}

function Annotations({ trace, chosen }: PeopleZoneProps) {
  const may = useMay();
  const { traceId } = trace;
  const { annotation, open, ...form } = useOpenAnnotation(annotationKey(useProject().id, traceId));
  const [calls, setCalls] = useState(0);
  const subject = chosen && { spanId: chosen.spanId, name: chosen.name ?? '' };
  const annotate = () => {
    open(subject);
    setCalls((count) => count + 1);
  };
  const found = useQuery(AnnotationService.method.listTraceAnnotations, { traceId });
  const scores = useQuery(AnnotationScoreService.method.listAnnotationScores);
  const mayAnnotate = may('annotations:create');
  useKeys('Annotations', mayAnnotate ? [{ keys: ['a'], label: 'Annotate', act: annotate }] : []);
  const all = found.data?.annotations ?? [];
  const shown = chosen === null ? all : all.filter(({ spanId }) => spanId === chosen.spanId);
  const defined = scores.data?.scores ?? [];
  return (
    <Section title={shown.length === 0 ? 'Annotations' : `Annotations, ${shown.length}`}>
      <Pending found={found} />
      {shown.map((annotation) => (
        <AnnotationCard
          key={annotation.id}
          trace={trace}
          annotation={annotation}
          scores={scoresOf(annotation, defined)}
        />
      ))}
      {mayAnnotate && annotation === null && (
        <div>
          <Button small onClick={annotate}>
            Annotate
          </Button>
        </div>
      )}
      {annotation !== null && (
        <AnnotationForm
          {...{ traceId, annotation, calls }}
          shown={subject}
          scores={defined.filter(({ active }) => active)}
          onChange={form.change}
          onMove={form.move}
          onClose={form.close}
        />
      )}
    </Section>
  );
}

type AnnotationCardProps = {
  readonly trace: Trace;
  readonly annotation: Annotation;
  readonly scores: readonly (readonly [name: string, value: string])[];
};

function AnnotationCard({ trace, annotation, scores }: AnnotationCardProps) {
  const may = useMay();
  const refresh = useRefresh();
  const { id, isThumbsUp, comment, expectedOutput, anchorPath, spanId, email } = annotation;
  const about = [spanId === undefined ? null : 'a span', anchorPath ?? null].filter((part) => part !== null).join(', ');
  return (
    <article className={styles.bubble}>
      <div className={page.row}>
        {isThumbsUp !== undefined && (
          <Badge tone={isThumbsUp ? 'good' : 'bad'}>{isThumbsUp ? 'Thumbs up' : 'Thumbs down'}</Badge>
        )}
        {scores.map(([name, value]) => (
          <span key={name}>{nameControls(`${name}: ${value}`)}</span>
        ))}
        <span className={page.soft}>
          {about !== '' && `about ${nameControls(about)} · `}
          {email !== undefined && `${nameControls(email)} · `}
          <Instant at={annotation.createdAt} />
        </span>
      </div>
      {comment && <p className={page.prose}>{nameControls(comment)}</p>}
      {expectedOutput !== undefined && <p className={page.prose}>Expected: {nameControls(expectedOutput)}</p>}
      <div className={page.row}>
        {expectedOutput !== undefined && may('datasets:update') && (
          <ModalButton label="Add to a dataset…" title="Add this trace with the expected output" small>
            {(close) => <EntryForm trace={trace} expectedOutput={expectedOutput} onClose={close} />}
          </ModalButton>
        )}
        {may('annotations:manage') && (
          <ConfirmButton
            label="Delete"
            small
            variant="danger"
            title="Delete this annotation"
            action="Delete it"
            typed="delete"
            method={AnnotationService.method.deleteAnnotation}
            input={{ id }}
            refresh={refresh}
          >
            This cannot be undone.
          </ConfirmButton>
        )}
      </div>
    </article>
  );
}

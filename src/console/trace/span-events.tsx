/** The events of a span by the time at which they happened, and its links to other spans. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Link } from '@tanstack/react-router';
import type { TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { formatCount, formatDuration, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useLinkedProject } from '../session/session.tsx';
import styles from './detail.module.css';
import { JsonView } from './json-view.tsx';
import { Section } from './section.tsx';
import { telemetryOf } from './telemetry.ts';

const SHOWN_MAX = 100;

export function SpanEvents({ span }: { readonly span: TraceSpan }) {
  const project = useLinkedProject();
  const { events, links } = telemetryOf(span);
  const startMs = span.timestamps?.startedAt ? timestampMs(span.timestamps.startedAt) : 0;
  return (
    <>
      {events.length > 0 && (
        <Section title={`Events, ${formatCount(events.length)}`}>
          <ol className={styles.events}>
            {events.slice(0, SHOWN_MAX).map(({ name, atMs, attributesJson }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an event may occur twice, and the order never changes.
              <li key={index}>
                <bdi>{nameControls(name) || 'event'}</bdi>{' '}
                <span className={page.soft}>
                  {atMs >= startMs ? `after ${formatDuration(atMs - startMs)}` : 'before the start'}
                </span>
                {attributesJson !== null && (
                  <JsonView json={attributesJson} label={`the attributes of event ${index + 1}`} />
                )}
              </li>
            ))}
          </ol>
          {events.length > SHOWN_MAX && <p className={styles.note}>The first {SHOWN_MAX} are shown.</p>}
        </Section>
      )}
      {links.length > 0 && (
        <Section title={`Links, ${formatCount(links.length)}`}>
          <ul className={styles.events}>
            {links.slice(0, SHOWN_MAX).map(({ traceId, spanId, attributesJson }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a link may occur twice, and the order never changes.
              <li key={index}>
                {project === null ? (
                  <span className={page.mono}>{nameControls(traceId)}</span>
                ) : (
                  <Link
                    to="/$slug/traces/$traceId"
                    params={{ slug: project.slug, traceId }}
                    search={{ span: spanId }}
                    preload={false}
                    className={page.mono}
                  >
                    {nameControls(traceId)}
                  </Link>
                )}{' '}
                <span className={page.soft}>span {nameControls(spanId)}</span>
                {attributesJson !== null && (
                  <JsonView json={attributesJson} label={`the attributes of link ${index + 1}`} />
                )}
              </li>
            ))}
          </ul>
          {links.length > SHOWN_MAX && <p className={styles.note}>The first {SHOWN_MAX} are shown.</p>}
        </Section>
      )}
    </>
  );
}

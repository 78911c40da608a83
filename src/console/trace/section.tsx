import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SpanError } from '../../../gen/spandrel/v1/traces_pb.js';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useLinkedProject } from '../session/session.tsx';
import styles from './detail.module.css';
import { similarFailures } from './failures.ts';
import { LongText } from './long-text.tsx';

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h2 className={styles.title}>{title}</h2>
      {children}
    </section>
  );
}

type ErrorViewProps = {
  readonly error: SpanError;
  /** Whether the stack is unfolded at first. */
  readonly isOpen?: boolean;
  readonly children?: ReactNode;
};

export function ErrorView({ error, isOpen = false, children }: ErrorViewProps) {
  return (
    <section className={styles.error}>
      <div className={page.row}>
        <h2>Error</h2>
        {children}
      </div>
      <p className={page.prose}>{nameControls(error.message)}</p>
      {error.stacktrace.length > 0 && (
        <details open={isOpen}>
          <summary>
            {error.stacktrace.length === 1 ? 'Stack, 1 line' : `Stack, ${error.stacktrace.length} lines`}
          </summary>
          <LongText text={error.stacktrace.join('\n')} code />
        </details>
      )}
    </section>
  );
}

export function SimilarFailures({ error }: { readonly error: SpanError }) {
  const project = useLinkedProject();
  if (project === null) return null;
  return (
    <Link to="/$slug/traces" params={{ slug: project.slug }} search={{ q: similarFailures(error) }} preload={false}>
      Similar failures
    </Link>
  );
}

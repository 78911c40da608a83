import type { ReactNode } from 'react';
import type { SpanError } from '../../../gen/spandrel/v1/traces_pb.js';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import styles from './detail.module.css';
import { LongText } from './long-text.tsx';

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h2 className={styles.title}>{title}</h2>
      {children}
    </section>
  );
}

export function ErrorView({ error, children }: { readonly error: SpanError; readonly children?: ReactNode }) {
  return (
    <section className={styles.error}>
      <div className={page.row}>
        <h2>Error</h2>
        {children}
      </div>
      <p className={page.prose}>{nameControls(error.message)}</p>
      {error.stacktrace.length > 0 && (
        <details>
          <summary>Stack, {error.stacktrace.length} lines</summary>
          <LongText text={error.stacktrace.join('\n')} code />
        </details>
      )}
    </section>
  );
}

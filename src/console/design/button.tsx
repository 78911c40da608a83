/** Buttons, badges and fields of all pages. */

import type { ComponentProps, ReactNode } from 'react';
import { createContext, useContext, useEffect, useId, useState } from 'react';
import styles from './controls.module.css';
import { type Problem, problemOf } from './problem.ts';
import status from './status.module.css';

export type Variant = 'primary' | 'danger' | 'destroy' | 'plain' | undefined;

type ButtonProps = ComponentProps<'button'> & { readonly variant?: Variant; readonly small?: boolean };

export function Button({ variant, small, className, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={joined(buttonClass(variant, small), className)} {...rest} />;
}

/** For links that look like buttons. */
export function buttonClass(variant?: Variant, small = false): string {
  return joined(styles.button, variant && styles[variant], small && styles.small);
}

export function joined(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

export type Tone = 'good' | 'bad' | 'warn' | 'accent' | 'quiet';

export function Badge({ tone = 'quiet', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={joined(styles.badge, tone !== 'quiet' && styles[tone])}>{children}</span>;
}

/** The problems of the form around a field. */
export const Problems = createContext<readonly Problem[]>([]);

export type Labelled = {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Its name in the request, to show its problem beside it. */
  readonly field?: string | undefined;
};

type FieldProps = Labelled & {
  readonly children: (props: {
    id: string;
    className: string;
    'aria-describedby'?: string;
    'aria-invalid'?: true;
  }) => ReactNode;
};

export function Field({ label, hint, field, children }: FieldProps) {
  const id = useId();
  const problem = problemOf(useContext(Problems), field);
  const hintId = `${id}-hint`;
  const problemId = `${id}-problem`;
  const describedBy = joined(hint != null && hint !== false && hintId, problem !== null && problemId);
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        className: styles.input ?? '',
        ...(describedBy !== '' && { 'aria-describedby': describedBy }),
        ...(problem !== null && { 'aria-invalid': true }),
      })}
      {problem !== null && (
        <span id={problemId} className={styles.problem}>
          {problem}
        </span>
      )}
      {hint && (
        <span id={hintId} className={styles.hint}>
          {hint}
        </span>
      )}
    </div>
  );
}

const STATUS_MS = 1_500;

/** Copies a text, and shows the result for a moment. */
export function CopyButton({ text, children = 'Copy' }: { readonly text: string; readonly children?: ReactNode }) {
  const [outcome, setOutcome] = useState<string | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), STATUS_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    try {
      // Browsers give no clipboard to pages from another machine over plain http.
      await navigator.clipboard.writeText(text);
      setOutcome('Copied');
    } catch {
      setOutcome('The browser refused');
    }
  };
  return (
    <Button small onClick={() => void copy()}>
      <span aria-live="polite">{outcome ?? children}</span>
    </Button>
  );
}

type SnippetProps = { readonly title: string; readonly code: string; readonly shown?: string };

/** Code to copy. `shown` is displayed instead of code that contains a secret. */
export function Snippet({ title, code, shown = code }: SnippetProps) {
  return (
    <div className={styles.snippetBox}>
      <div className={styles.snippetHead}>
        <h3>{title}</h3>
        <CopyButton text={code} />
      </div>
      <pre className={styles.snippet} tabIndex={0}>
        {shown}
      </pre>
    </div>
  );
}

/** Stands for what is loading, in its height. */
export function Skeleton({ height }: { readonly height: number }) {
  return <div className={status.skeleton} style={{ height }} aria-hidden />;
}

/** Stands for a page or a table that is loading. */
export function Loading() {
  return (
    <div className={status.loading} role="status">
      <span className={status.unseen}>Loading…</span>
      {LINES.map((width) => (
        <div key={width} className={status.skeleton} style={{ width, height: 14 }} />
      ))}
    </div>
  );
}

const LINES = ['38%', '92%', '84%', '88%', '61%'];

type ProgressProps = { readonly label: string; readonly done: number; readonly all: number };

/** A progress bar; full if `all` is 0. */
export function Progress({ label, done, all }: ProgressProps) {
  return (
    <progress className={styles.progress} aria-label={label} max={Math.max(1, all)} value={all === 0 ? 1 : done} />
  );
}

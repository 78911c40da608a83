/** Buttons, badges and fields, so that all pages have the same ones. */

import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { useEffect, useId, useState } from 'react';
import styles from './controls.module.css';

type Look = 'primary' | 'danger' | 'plain' | undefined;

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { readonly look?: Look; readonly small?: boolean };

export function Button({ look, small, className, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={joined(buttonClass(look, small), className)} {...rest} />;
}

/** For links that look like buttons. */
export function buttonClass(look?: Look, small = false): string {
  return joined(styles.button, look && styles[look], small && styles.small);
}

export function joined(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

export type Tone = 'good' | 'bad' | 'warn' | 'accent' | 'quiet';

export function Badge({ tone = 'quiet', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={joined(styles.badge, tone !== 'quiet' && styles[tone])}>{children}</span>;
}

type FieldProps = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly children: (props: { id: string; className: string; 'aria-describedby'?: string }) => ReactNode;
};

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({ id, className: styles.input ?? '', ...(hint ? { 'aria-describedby': hintId } : {}) })}
      {hint && (
        <span id={hintId} className={styles.hint}>
          {hint}
        </span>
      )}
    </div>
  );
}

const TOLD_MS = 1_500;

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, children = 'Copy' }: { readonly text: string; readonly children?: ReactNode }) {
  const [told, setTold] = useState<string | null>(null);
  useEffect(() => {
    if (told === null) return;
    const timer = setTimeout(() => setTold(null), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async () => {
    try {
      // Pages that came over plain http from another machine have no clipboard.
      await navigator.clipboard.writeText(text);
      setTold('Copied');
    } catch {
      setTold('The browser refused');
    }
  };
  return (
    <Button small onClick={() => void copy()}>
      <span aria-live="polite">{told ?? children}</span>
    </Button>
  );
}

/** Code to be copied; `shown` stands in its place where it holds a secret. */
export function Snippet({
  title,
  code,
  shown,
}: {
  readonly title: string;
  readonly code: string;
  readonly shown?: string;
}) {
  return (
    <div className={styles.snippetBox}>
      <div className={styles.snippetHead}>
        <h3>{title}</h3>
        <CopyButton text={code} />
      </div>
      <pre className={styles.snippet} tabIndex={0}>
        {shown ?? code}
      </pre>
    </div>
  );
}

export function Loading() {
  return (
    <p className={styles.skeleton} role="status">
      Loading…
    </p>
  );
}

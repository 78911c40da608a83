/** Forms, and the fields that most of them are made of. */

import {
  type InputHTMLAttributes,
  lazy,
  type ReactNode,
  Suspense,
  type TextareaHTMLAttributes,
  useEffect,
  useRef,
  useState,
} from 'react';
import { loadsPart } from '../session/connection.ts';
import { Button, Field, joined, type Labelled, Problems } from './button.tsx';
import controls from './controls.module.css';
import dialog from './dialog.module.css';
import { FailureNotice, readFailure } from './failure.tsx';
import page from './page.module.css';
import type { Problem } from './problem.ts';
import { Chosen, type SelectProps } from './select-button.tsx';

/** What is typed into a form, and the function that changes parts of it. */
export function useDraft<Draft extends object>(start: Draft): readonly [Draft, (part: Partial<Draft>) => void] {
  const [draft, setDraft] = useState(start);
  return [draft, (part) => setDraft((now) => ({ ...now, ...part }))];
}

/** The call that a form makes. */
export type Call = { readonly isPending: boolean; readonly error: unknown };

type FormProps = {
  readonly className?: string | undefined;
  /** The text of the button; null without one. */
  readonly action: string | null;
  readonly disabled: boolean;
  /** Null or undefined without one. */
  readonly error?: unknown;
  /** What is wrong with fields before they are sent. */
  readonly problems?: readonly Problem[];
  /** What the last submission did. */
  readonly outcome?: ReactNode;
  readonly onSubmit: () => void;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
};

export function Form({
  className = page.form,
  action,
  disabled,
  error,
  problems = [],
  outcome,
  onSubmit,
  onCancel,
  children,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // The field may be far above the button.
    if (error != null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <form
      ref={form}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Problems value={error == null ? problems : [...problems, ...readFailure(error).problems]}>{children}</Problems>
      <div className={dialog.foot}>
        {error != null && <FailureNotice error={error} />}
        {action !== null && (
          <div className={page.row}>
            <Button type="submit" variant="primary" disabled={disabled}>
              {action}
            </Button>
            {onCancel && <Button onClick={onCancel}>Cancel</Button>}
            {outcome !== undefined && <span role="status">{outcome}</span>}
          </div>
        )}
      </div>
    </form>
  );
}

/** A form in a card of its own. */
export const FORM_CARD = `${page.card} ${page.padded} ${page.narrow}`;

type TextFieldProps = Labelled &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & { readonly onChange: (text: string) => void };

export function TextField({ label, hint, field, onChange, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} field={field}>
      {(props) => <input {...props} {...rest} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  );
}

type AreaFieldProps = Labelled &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'> & { readonly onChange: (text: string) => void };

/** A field of several lines. */
export function AreaField({ label, hint, field, onChange, ...rest }: AreaFieldProps) {
  return (
    <Field label={label} hint={hint} field={field}>
      {(props) => <textarea {...props} {...rest} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  );
}

const loadFloating = loadsPart(() => import('./select-floating.tsx'));
const SelectFloating = lazy(loadFloating);
const OPENING_KEYS: ReadonlySet<string> = new Set(['ArrowDown', 'ArrowUp']);

/** A choice of one. Its list is loaded on first use, when a finger or a pointer comes near. */
export function Select<Value extends string | number>(props: SelectProps<Value>) {
  const [isRequested, setRequested] = useState(false);
  const { value, options, onChange, className = controls.control, ...rest } = props;
  const preload = () => void loadFloating().catch(() => undefined);
  const closed = (
    <button
      type="button"
      role="combobox"
      aria-haspopup="listbox"
      aria-expanded={false}
      className={joined(className, controls.select)}
      {...rest}
      onClick={() => setRequested(true)}
      onKeyDown={({ key }) => OPENING_KEYS.has(key) && setRequested(true)}
      onPointerEnter={preload}
      onFocus={preload}
    >
      <Chosen text={options.find(([each]) => each === value)?.[1] ?? ''} />
    </button>
  );
  if (!isRequested) return closed;
  return (
    <Suspense fallback={closed}>
      <SelectFloating {...(props as unknown as SelectProps<string | number>)} />
    </Suspense>
  );
}

export function SelectField<Value extends string | number>({
  label,
  hint,
  field,
  ...rest
}: Labelled & SelectProps<Value>) {
  return (
    <Field label={label} hint={hint} field={field}>
      {(props) => <Select {...props} {...rest} />}
    </Field>
  );
}

type CheckProps = Pick<InputHTMLAttributes<HTMLInputElement>, 'title' | 'aria-label' | 'disabled'> & {
  readonly checked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly children: ReactNode;
};

/** A checkbox before its label. */
export function Check({ title, onChange, children, ...rest }: CheckProps) {
  return (
    <label className={controls.check} title={title}>
      <input type="checkbox" {...rest} onChange={({ target }) => onChange(target.checked)} />
      {children}
    </label>
  );
}

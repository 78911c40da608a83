/** Forms, and the fields that most of them are made of. */

import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Button, Field, type Labelled, Problems } from './button.tsx';
import controls from './controls.module.css';
import dialog from './dialog.module.css';
import { FailureNotice, readFailure } from './failure.tsx';
import page from './page.module.css';
import type { Problem } from './problem.ts';

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

type SelectProps<Value extends string | number> = Omit<
  SelectHTMLAttributes<HTMLSelectElement>,
  'value' | 'onChange'
> & {
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string, ...unknown[]])[];
  readonly onChange: (value: Value) => void;
};

export function Select<Value extends string | number>({
  className = controls.control,
  options,
  onChange,
  ...rest
}: SelectProps<Value>) {
  return (
    <select
      className={className}
      {...rest}
      onChange={({ target }) => {
        const [value] = options[target.selectedIndex] ?? [];
        if (value !== undefined) onChange(value);
      }}
    >
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
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

/** The query line, its filters as chips, and the menus that write into it. */

import { Popover } from '@base-ui/react/popover';
import { useEffect, useRef, useState } from 'react';
import { Button, buttonClass, Field } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import styles from './filter-bar.module.css';
import { FILTER_KINDS, type Filter, labelOf, parseQueryLine, writeQueryLine } from './query-line.ts';
import type { TraceListSearch } from './search.ts';

type FilterBarProps = {
  readonly search: TraceListSearch;
  readonly onChange: (change: Partial<Record<keyof TraceListSearch, string | boolean | undefined>>) => void;
};

export function FilterBar({ search, onChange }: FilterBarProps) {
  const line = search.q ?? '';
  const [typed, setTyped] = useState(line);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(line), [line]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener('keydown', focus);
    return () => window.removeEventListener('keydown', focus);
  }, []);
  const { text, filters } = parseQueryLine(line);
  const write = (next: readonly Filter[]) => onChange({ q: writeQueryLine({ text, filters: next }) || undefined });
  return (
    <div className={styles.bar}>
      <div className={styles.line}>
        <form
          className={styles.find}
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            onChange({ q: typed.trim() || undefined });
          }}
        >
          <input
            ref={field}
            className={styles.input}
            type="search"
            aria-label="Find traces"
            placeholder="Words, or filters such as user:ada model:gpt-5 error:true"
            spellCheck={false}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              if (event.target.value === '') onChange({ q: undefined });
            }}
          />
          <Button type="submit">Find</Button>
        </form>
        <AddFilter onAdd={(filter) => write([...filters, filter])} />
      </div>
      {filters.length > 0 && (
        <ul className={styles.chips} aria-label="Filters">
          {filters.map((filter) => (
            <li key={`${filter.name}:${filter.value}`} className={styles.chip}>
              <span className={styles.chipName}>{nameControls(labelOf(filter))}</span>
              <span className={styles.chipValue}>{nameControls(filter.value)}</span>
              <button
                type="button"
                className={styles.remove}
                aria-label={`Remove ${labelOf(filter)} ${filter.value}`}
                onClick={() => write(filters.filter((each) => each !== filter))}
              >
                ×
              </button>
            </li>
          ))}
          <li>
            <label className={styles.not}>
              <input
                type="checkbox"
                checked={search.not === true}
                onChange={(event) => onChange({ not: event.target.checked || undefined })}
              />
              All but these
            </label>
          </li>
        </ul>
      )}
    </div>
  );
}

function AddFilter({ onAdd }: { readonly onAdd: (filter: Filter) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('model');
  const [of, setOf] = useState('');
  const [value, setValue] = useState('');
  const kind = FILTER_KINDS.find((each) => each.name === name);
  const isComplete = value.trim() !== '' && (kind?.of === undefined || of.trim() !== '');
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={buttonClass()}>Add filter</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="end" className={styles.floating ?? ''}>
          <Popover.Popup className={styles.popup ?? ''} aria-label="Add a filter">
            <form
              className={styles.form}
              onSubmit={(event) => {
                event.preventDefault();
                if (!isComplete) return;
                onAdd({ name: kind?.of ? `${name}.${of.trim()}` : name, value: value.trim() });
                setValue('');
                setOpen(false);
              }}
            >
              <Field label="Filter">
                {(props) => (
                  <select
                    {...props}
                    value={name}
                    onChange={(event) => {
                      setName(event.target.value);
                      setValue('');
                    }}
                  >
                    {FILTER_KINDS.map((each) => (
                      <option key={each.name} value={each.name}>
                        {each.label}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              {kind?.of && (
                <Field label={kind.of === 'key' ? 'Key' : 'Evaluator id'}>
                  {(props) => <input {...props} value={of} onChange={(event) => setOf(event.target.value)} />}
                </Field>
              )}
              <Field label="Value">
                {(props) =>
                  kind?.values ? (
                    <select {...props} value={value} onChange={(event) => setValue(event.target.value)}>
                      <option value="">Choose…</option>
                      {kind.values.map((each) => (
                        <option key={each}>{each}</option>
                      ))}
                    </select>
                  ) : (
                    <input {...props} value={value} onChange={(event) => setValue(event.target.value)} />
                  )
                }
              </Field>
              <Button type="submit" look="primary" disabled={!isComplete}>
                Add
              </Button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

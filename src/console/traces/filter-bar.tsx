/** The query line, its filters as chips, and the filter menu. */

import { useEffect, useRef, useState } from 'react';
import { Button, joined } from '../design/button.tsx';
import { Chip, Chips } from '../design/chip.tsx';
import controls from '../design/controls.module.css';
import { Check } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { useKeys } from '../layout/keys.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { AddFilter } from './add-filter.tsx';
import styles from './filter-bar.module.css';
import { type Filter, labelOf, parseQueryLine, writeQueryLine } from './query-line.ts';
import type { FinderSearch } from './search.ts';

type FilterBarProps = {
  readonly search: FinderSearch;
  readonly onChange: (change: ChangeOf<FinderSearch>) => void;
};

export function FilterBar({ search, onChange }: FilterBarProps) {
  const line = search.q ?? '';
  const [typed, setTyped] = useState(line);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(line), [line]);
  useKeys('Search', [{ keys: ['/'], label: 'Find traces', act: () => field.current?.focus() }]);
  const { filters, unknown, empty } = parseQueryLine(line);
  // Includes typed text that is not submitted yet.
  const write = (change: (filters: readonly Filter[]) => readonly Filter[]) => {
    const now = parseQueryLine(typed);
    onChange({ q: writeQueryLine({ text: now.text, filters: change(now.filters) }) || undefined });
  };
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
            className={joined(controls.input, styles.input)}
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
        <AddFilter onAdd={(filter) => write((now) => [...now, filter])} />
      </div>
      {filters.length > 0 && (
        <Chips>
          {filters.map((filter) => (
            <Chip
              key={`${filter.name}:${filter.value}`}
              name={labelOf(filter)}
              value={filter.value}
              onRemove={() =>
                write((now) => now.filter(({ name, value }) => name !== filter.name || value !== filter.value))
              }
            />
          ))}
          <li>
            <Check
              checked={search.not === true}
              title="Shows the traces that do not match these filters"
              onChange={(isOn) => onChange({ not: isOn || undefined })}
            >
              Negate
            </Check>
          </li>
        </Chips>
      )}
      {unknown.length > 0 && (
        <p className={controls.hint} role="status">
          No filter has this name, so the text is searched for: {nameControls(unknown.join(' '))}
        </p>
      )}
      {empty.length > 0 && (
        <p className={controls.hint} role="status">
          Left out, because a value is missing: {nameControls(empty.map((name) => `${name}:`).join(' '))}
        </p>
      )}
    </div>
  );
}

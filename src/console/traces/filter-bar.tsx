/** The query line, its filters as chips, and the filter menu. */

import { type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Chip, Chips } from '../design/chip.tsx';
import { Check } from '../design/form.tsx';
import { useKeys } from '../layout/keys.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { AddFilter } from './add-filter.tsx';
import styles from './filter-bar.module.css';
import { LineHints } from './line-hints.tsx';
import { QueryInput } from './query-input.tsx';
import { type Filter, labelOf, parseQueryLine, shownValue, writeQueryLine } from './query-line.ts';
import type { FinderSearch } from './search.ts';

type FilterBarProps = {
  readonly search: FinderSearch;
  readonly onChange: (change: ChangeOf<FinderSearch>) => void;
  /** Gets what is typed, submitted or not. */
  readonly typedRef?: RefObject<string>;
};

export function FilterBar({ search, onChange, typedRef }: FilterBarProps) {
  const line = search.q ?? '';
  const [typed, setTyped] = useState(line);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(line), [line]);
  useEffect(() => {
    if (typedRef) typedRef.current = typed;
  }, [typedRef, typed]);
  useKeys('Search', [{ keys: ['/'], label: 'Find traces', act: () => field.current?.focus() }]);
  const { filters } = parseQueryLine(line);
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
          <QueryInput
            field={field}
            search={search}
            typed={typed}
            onType={(next) => {
              setTyped(next);
              if (next === '') onChange({ q: undefined });
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
              value={shownValue(filter)}
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
      <LineHints line={line} />
    </div>
  );
}

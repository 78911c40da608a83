/** The field of the query line. It suggests values of the filter that the caret is in. */

import { type RefObject, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { TraceService, type TraceValueCount } from '../../../gen/spandrel/v1/traces_pb.js';
import controls from '../design/controls.module.css';
import { formatCount, nameControls } from '../design/format.ts';
import styles from './filter-bar.module.css';
import { apiNameOf, type TypedValue, typedValue, writeQueryLine } from './query-line.ts';
import { useRangeQuery } from './range-query.ts';
import type { FinderSearch } from './search.ts';
import { toOtherFilters, toRangeInput } from './search-input.ts';

const WAIT_MS = 80;
/** The api takes no longer ones. */
const PREFIX_MAX = 200;
const SUGGESTIONS_MAX = 8;

type QueryInputProps = {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly search: FinderSearch;
  readonly typed: string;
  readonly onType: (line: string) => void;
};

export function QueryInput({ field, search, typed, onType }: QueryInputProps) {
  /** Null where nothing is suggested: without the focus, and once one has chosen or refused. */
  const [caret, setCaret] = useState<number | null>(null);
  /** The value that the arrow keys have reached; null: the line itself. */
  const [picked, setPicked] = useState<string | null>(null);
  const id = useId();
  const place = useRef<number | null>(null);
  const value = useMemo(() => (caret === null ? null : typedValue(typed, caret)), [typed, caret]);
  const suggestions = useSuggestions(search, value);
  const at = suggestions.findIndex((each) => each.value === picked);
  // It stays while the values of a longer line are on their way.
  const chosen = suggestions.length === 0 || at >= 0 ? picked : null;
  useLayoutEffect(() => {
    if (place.current !== null) field.current?.setSelectionRange(place.current, place.current);
    place.current = null;
  });
  const close = () => {
    setCaret(null);
    setPicked(null);
  };
  const choose = ({ name, before, after }: TypedValue, chosen: string) => {
    const start = `${before}${writeQueryLine({ text: '', filters: [{ name, value: chosen }] })} `;
    place.current = start.length;
    onType(start + after.trimStart());
    close();
  };
  return (
    <div className={styles.input}>
      <input
        ref={field}
        className={controls.input}
        type="text"
        role="combobox"
        autoComplete="off"
        enterKeyHint="search"
        aria-label="Find traces"
        aria-autocomplete="list"
        aria-expanded={suggestions.length > 0}
        aria-controls={suggestions.length > 0 ? id : undefined}
        aria-activedescendant={suggestions[at] ? `${id}-${at}` : undefined}
        placeholder="Words, or filters such as user:ada model:gpt-5 duration:>10s"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => {
          onType(target.value);
          setCaret(target.selectionStart);
          setPicked(null);
        }}
        onBlur={close}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          // The keys of an input method are its own.
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Enter' && (chosen === null || value === null)) return close();
          if (event.key === 'Enter' && chosen !== null && value) choose(value, chosen);
          else if (suggestions.length === 0) return;
          else if (event.key === 'Escape') close();
          // Before the first one is the line itself.
          else if (step !== undefined) {
            const next = ((at + 2 + step + suggestions.length) % (suggestions.length + 1)) - 1;
            setPicked(suggestions[next]?.value ?? null);
          } else return;
          event.preventDefault();
        }}
      />
      {value && suggestions.length > 0 && (
        <div id={id} role="listbox" aria-label={`Values of ${value.name}`} className={styles.suggestions}>
          {suggestions.map((each, index) => (
            <div
              key={each.value}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              className={styles.suggestion}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(value, each.value)}
            >
              <span className={styles.suggested}>{nameControls(each.value)}</span>
              <span className={controls.hint}>
                {each.countRelation === 'gte' && '≥ '}
                {formatCount(each.count)}
              </span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

const NONE: readonly TraceValueCount[] = [];

/** Values of the traces that the rest of the search finds. Of an older answer those are left that still fit. */
function useSuggestions(search: FinderSearch, value: TypedValue | null): readonly TraceValueCount[] {
  const { not, range, from, to } = search;
  const settled = useSettled(value);
  const asked = settled ?? value;
  const input = useMemo(() => {
    if (asked === null) return {};
    const { name, prefix, before, after } = asked;
    return { ...toOtherFilters({ q: `${before}${after}`, not }, name), ...apiNameOf(name), prefix };
  }, [asked, not]);
  const found = useRangeQuery({
    method: TraceService.method.suggestTraceValues,
    range: { range, from, to },
    input: { ...input, limit: SUGGESTIONS_MAX },
    toRangeInput,
    enabled: value !== null && settled !== null && settled.prefix.length <= PREFIX_MAX,
  });
  const isOfValue = value !== null && settled?.name === value.name && settled.before === value.before;
  if (!isOfValue || !found.data || found.isPlaceholderData) return NONE;
  const { values } = found.data.answer;
  const wanted = value.prefix.toLowerCase();
  const fitting =
    settled?.prefix === value.prefix ? values : values.filter((each) => each.value.toLowerCase().startsWith(wanted));
  const isDone = fitting.length === 1 && fitting[0]?.value === value.prefix;
  // A line has no filter for the empty text.
  return isDone ? NONE : fitting.filter((each) => each.value !== '');
}

/** The value once it has not changed for a while; null until then. */
function useSettled(value: TypedValue | null): TypedValue | null {
  const [settled, setSettled] = useState<TypedValue | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), WAIT_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

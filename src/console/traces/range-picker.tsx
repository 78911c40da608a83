import { useEffect, useState } from 'react';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import { toLocalInput } from '../design/format.ts';
import page from '../design/page.module.css';
import { keepRange } from './kept-range.ts';
import { isInstant, RANGE_CUSTOM, RANGE_DEFAULT, RANGES, type Range, type RangeSearch, readBounds } from './range.ts';
import styles from './range-picker.module.css';

type RangePickerProps = {
  readonly search: RangeSearch;
  readonly onChange: (change: Range) => void;
};

const CHOICES: readonly (readonly [range: string, label: string])[] = [
  ...Object.entries(RANGES).map(([name, { label }]) => [name, label] as const),
  [RANGE_CUSTOM, 'From … to …'],
];

export function RangePicker({ search, onChange }: RangePickerProps) {
  const { from, to } = search;
  useEffect(() => {
    // A link may lead to an hour, which was chosen for no other page.
    if (search.range !== undefined && search.range !== RANGE_CUSTOM) keepRange(search);
  }, [search]);
  const change = (part: Range) => {
    // Before the address has it: a page without a range would take the kept one.
    keepRange({ ...search, ...part });
    onChange(part);
  };
  // A range of one's own has a start.
  const range = search.range === RANGE_CUSTOM && from === undefined ? RANGE_DEFAULT : (search.range ?? RANGE_DEFAULT);
  const isTurned = from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to);
  return (
    <span className={page.row}>
      <Select
        aria-label="Range"
        value={range}
        options={CHOICES}
        onChange={(chosen) => change(rangeOf(chosen, search))}
      />
      {range === RANGE_CUSTOM && (
        <>
          <Bound label="From" value={from} isNeeded onChange={(value) => change({ from: value })} />
          <Bound label="To" value={to} onChange={(value) => change({ to: value })} />
          {to === undefined && !isTurned && <span className={page.soft}>until now</span>}
          {isTurned && (
            <span role="alert" className={styles.wrong}>
              It ends before it begins.
            </span>
          )}
        </>
      )}
    </span>
  );
}

/** A range of one's own begins as the one that was chosen before. */
function rangeOf(chosen: string, search: RangeSearch): Range {
  if (chosen !== RANGE_CUSTOM) return { range: chosen, from: undefined, to: undefined };
  const { fromMs, toMs } = readBounds(search);
  return { range: RANGE_CUSTOM, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

type BoundProps = {
  readonly label: string;
  readonly value: string | undefined;
  /** Whether it stays as it is while the field is empty. */
  readonly isNeeded?: boolean;
  readonly onChange: (value: string | undefined) => void;
};

/** Keeps typed text until it is a plausible instant, because a year is typed digit by digit. */
function Bound({ label, value, isNeeded = false, onChange }: BoundProps) {
  const [typed, setTyped] = useState(value ? toLocalInput(value) : '');
  useEffect(() => setTyped(value ? toLocalInput(value) : ''), [value]);
  return (
    <input
      className={controls.control}
      type="datetime-local"
      aria-label={label}
      aria-invalid={typed === '' ? isNeeded : !isInstant(typed)}
      min="2000-01-01T00:00"
      max="2099-12-31T23:59"
      value={typed}
      onChange={({ target }) => {
        setTyped(target.value);
        if (target.value === '') {
          if (!isNeeded) onChange(undefined);
        } else if (isInstant(target.value)) onChange(new Date(target.value).toISOString());
      }}
    />
  );
}

import styles from './range-picker.module.css';
import { RANGE_CUSTOM, RANGE_DEFAULT, RANGES, type TraceListSearch } from './search.ts';

type RangePickerProps = {
  readonly search: Pick<TraceListSearch, 'range' | 'from' | 'to'>;
  readonly onChange: (change: {
    range?: string | undefined;
    from?: string | undefined;
    to?: string | undefined;
  }) => void;
};

export function RangePicker({ search, onChange }: RangePickerProps) {
  const range = search.range ?? RANGE_DEFAULT;
  const bound = (name: 'from' | 'to', label: string) => (
    <input
      className={styles.control}
      type="datetime-local"
      aria-label={label}
      value={search[name] ? toLocal(search[name]) : ''}
      onChange={({ target: { value } }) =>
        onChange({ [name]: value === '' ? undefined : new Date(value).toISOString() })
      }
    />
  );
  return (
    <span className={styles.picker}>
      <select
        className={styles.control}
        aria-label="Range"
        value={range}
        onChange={({ target: { value } }) =>
          onChange({ range: value === RANGE_DEFAULT ? undefined : value, from: undefined, to: undefined })
        }
      >
        {Object.entries(RANGES).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <option value={RANGE_CUSTOM}>From … to …</option>
      </select>
      {range === RANGE_CUSTOM && (
        <>
          {bound('from', 'From')}
          {bound('to', 'To')}
        </>
      )}
    </span>
  );
}

/** As the field has it: the reader's own clock, without a zone. */
function toLocal(instant: string): string {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

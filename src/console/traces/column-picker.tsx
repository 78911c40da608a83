import { Popover } from '../design/popover.tsx';
import styles from './column-picker.module.css';
import { SHOWN_BY_DEFAULT, SIZES } from './columns.tsx';

const LABELS: Readonly<Record<string, string>> = {
  started: 'Started',
  name: 'Name',
  input: 'Input',
  output: 'Output',
  user: 'User',
  thread: 'Thread',
  labels: 'Labels',
  models: 'Model',
  evaluations: 'Evaluations',
  tokens: 'Tokens',
  cost: 'Cost',
  firstToken: 'First token',
  duration: 'Duration',
};

/** The columns that the address lists, or the default. */
export function shownColumns(value: string | undefined): readonly string[] {
  const chosen = (value ?? '').split(',').filter((id) => Object.hasOwn(SIZES, id));
  return chosen.length > 0 ? chosen : SHOWN_BY_DEFAULT;
}

type ColumnPickerProps = { readonly value: string | undefined; readonly onChange: (value: string | undefined) => void };

export function ColumnPicker({ value, onChange }: ColumnPickerProps) {
  const shown = shownColumns(value);
  const toggle = (id: string) => {
    const next = Object.keys(SIZES).filter((each) => (each === id) !== shown.includes(each));
    onChange(next.join() === SHOWN_BY_DEFAULT.join() || next.length === 0 ? undefined : next.join());
  };
  return (
    <Popover label="Columns" title="Columns">
      {() =>
        Object.keys(SIZES).map((id) => (
          <label key={id} className={styles.choice}>
            <input type="checkbox" checked={shown.includes(id)} onChange={() => toggle(id)} />
            {LABELS[id]}
          </label>
        ))
      }
    </Popover>
  );
}

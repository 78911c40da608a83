import { Check } from '../design/form.tsx';
import { Popover } from '../design/popover.tsx';
import { COLUMNS, listColumns, shownColumns } from './columns.tsx';

type ColumnPickerProps = {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly isDense: boolean;
  readonly onDense: (isDense: boolean) => void;
};

export function ColumnPicker({ value, onChange, isDense, onDense }: ColumnPickerProps) {
  const shown = shownColumns(value);
  const toggle = (id: string) =>
    onChange(listColumns(Object.keys(COLUMNS).filter((each) => (each === id) !== shown.includes(each))));
  return (
    <Popover label="Columns" title="Columns">
      {() => (
        <>
          {Object.entries(COLUMNS).map(([id, { label }]) => (
            <Check key={id} checked={shown.includes(id)} onChange={() => toggle(id)}>
              {label}
            </Check>
          ))}
          <hr />
          <Check checked={isDense} onChange={onDense}>
            Dense rows
          </Check>
        </>
      )}
    </Popover>
  );
}

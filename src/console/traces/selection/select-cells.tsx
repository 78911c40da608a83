/** The checkboxes of the rows and of the head of the list. */

import { useEffect, useRef } from 'react';
import table from '../trace-table.module.css';
import styles from './selection.module.css';
import type { Selection } from './use-selection.ts';

export const SELECT_WIDTH = '38px';

export function SelectAll({ selection: { share, toggleAll } }: { readonly selection: Selection }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = share === 'some';
  }, [share]);
  return (
    <div role="columnheader" className={table.cell}>
      <label className={styles.box}>
        <input ref={box} type="checkbox" aria-label="Select all rows" checked={share === 'all'} onChange={toggleAll} />
      </label>
    </div>
  );
}

type SelectRowProps = {
  readonly selection: Selection;
  readonly index: number;
  readonly traceId: string;
};

/** With Shift it selects all rows from the one before on. */
export function SelectRow({ selection, index, traceId }: SelectRowProps) {
  return (
    <div role="cell" className={table.cell}>
      <label className={styles.box}>
        <input
          type="checkbox"
          aria-label={`Select row ${index + 1}`}
          checked={selection.traces.has(traceId)}
          onChange={({ nativeEvent }) =>
            selection.toggle(index, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
          }
        />
      </label>
    </div>
  );
}

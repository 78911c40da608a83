/** Entries as rows, their members as columns; values are shown as text, never as markup. */

import { useMemo } from 'react';
import type { DatasetEntry } from '../../../gen/spandrel/v1/datasets_pb.js';
import { Button } from '../design/button.tsx';
import { formatCount, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { JsonView } from '../trace/json-view.tsx';
import styles from './datasets.module.css';

const PAGE_SIZE = 50;
const COLUMNS_MAX = 8;
const SHOWN_CHARACTERS = 300;

type EntryTableProps = {
  readonly entries: readonly Pick<DatasetEntry, 'id' | 'entryJson'>[];
  /** Counted from 1. */
  readonly number: number;
  readonly onNumber: (number: number) => void;
};

export function EntryTable({ entries, number, onNumber }: EntryTableProps) {
  const last = Math.max(1, Math.ceil(entries.length / PAGE_SIZE));
  const at = Math.min(number, last);
  const first = (at - 1) * PAGE_SIZE;
  const { columns, rows, isCut } = useMemo(() => readRows(entries.slice(first, first + PAGE_SIZE)), [entries, first]);
  if (entries.length === 0)
    return <Empty title="No entry yet">Add some from a CSV file, from lines of JSON, or over the API.</Empty>;
  return (
    <>
      <Table columns={[{ number: '#' }, ...columns.map(nameControls), 'Full entry']}>
        {rows.map(({ id, json, members }, index) => (
          <tr key={id}>
            <td className={page.number}>{formatCount(first + index + 1)}</td>
            {columns.map((name) => (
              <td key={name} className={styles.cell}>
                <div className={`${page.prose} ${styles.text}`}>{cellOf(members.get(name))}</div>
              </td>
            ))}
            <td>
              <details>
                <summary className={page.nowrap}>JSON</summary>
                <div className={styles.whole}>
                  <JsonView json={json} label={`entry ${first + index + 1}`} />
                </div>
              </details>
            </td>
          </tr>
        ))}
      </Table>
      {isCut && <p className={page.soft}>Entries have more members than the columns show.</p>}
      {last > 1 && (
        <div className={page.row}>
          <Button disabled={at === 1} onClick={() => onNumber(at - 1)}>
            Before
          </Button>
          <span role="status">
            Page {formatCount(at)} of {formatCount(last)}
          </span>
          <Button disabled={at === last} onClick={() => onNumber(at + 1)}>
            Next
          </Button>
        </div>
      )}
    </>
  );
}

type Row = { readonly id: string; readonly json: string; readonly members: ReadonlyMap<string, unknown> };

/** Columns in order of first appearance. */
function readRows(entries: EntryTableProps['entries']) {
  const rows = entries.map(({ id, entryJson }): Row => {
    const members = new Map(Object.entries(JSON.parse(entryJson) as object));
    return { id, json: entryJson, members };
  });
  const names = [...new Set(rows.flatMap(({ members }) => [...members.keys()]))];
  return { rows, columns: names.slice(0, COLUMNS_MAX), isCut: names.length > COLUMNS_MAX };
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return NONE;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return nameControls(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

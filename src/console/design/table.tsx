import type { ReactNode } from 'react';
import page from './page.module.css';

type TableProps = {
  /** The headings; those in an object stand above numbers. */
  readonly columns: readonly (string | { readonly number: string })[];
  readonly caption?: ReactNode;
  /** The rows. */
  readonly children: ReactNode;
};

export function Table({ columns, caption, children }: TableProps) {
  return (
    <table className={page.table}>
      {caption !== undefined && <caption className={page.caption}>{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column) =>
            typeof column === 'string' ? (
              <th key={column} scope="col">
                {column}
              </th>
            ) : (
              <th key={column.number} scope="col" className={page.number}>
                {column.number}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

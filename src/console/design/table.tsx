import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ReactNode } from 'react';
import { Instant } from './instant.tsx';
import page from './page.module.css';

export type TableProps = {
  /** The headings; those in an object stand above numbers. */
  readonly columns: readonly (string | { readonly number: string })[];
  readonly caption?: ReactNode;
  /** The rows. */
  readonly children: ReactNode;
};

/** A table in a card, which scrolls where it is wider than the page. One without links has a name, so that keys scroll it. */
export function Table({ name, ...props }: TableProps & { readonly name?: string }) {
  const className = `${page.card} ${page.scroll}`;
  const table = <BareTable {...props} />;
  if (name === undefined) return <div className={className}>{table}</div>;
  return (
    <section className={className} aria-label={name} tabIndex={0}>
      {table}
    </section>
  );
}

export function BareTable({ columns, caption, children }: TableProps) {
  return (
    <table className={page.table}>
      {caption !== undefined && <caption className={page.caption}>{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same heading.
            <th key={index} scope="col" className={typeof column === 'string' ? undefined : page.number}>
              {typeof column === 'string' ? column : column.number}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** A cell with a moment, which stays on one line. */
export function InstantCell(props: { readonly at: Timestamp | undefined; readonly as?: 'short' }) {
  return (
    <td className={page.nowrap}>
      <Instant {...props} />
    </td>
  );
}

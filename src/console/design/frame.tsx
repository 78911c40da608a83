/** The frame of the pages about records: their list, and the page of one of them. Forms are in form.tsx. */

import type { ReactNode } from 'react';
import { Empty, More, Page, type PageProps, Pending, PendingPage, type PendingProps } from './page.tsx';
import { Table, type TableProps } from './table.tsx';

type Found<Data> = PendingProps['found'] & {
  readonly data: Data | undefined;
  readonly hasNextPage?: boolean;
  readonly fetchNextPage?: () => unknown;
};

type RecordListProps<Data, Item> = Pick<TableProps, 'columns' | 'caption'> & {
  readonly found: Found<Data>;
  readonly items: (data: Data) => readonly Item[];
  /** Says of a list without records what to do. */
  readonly empty: { readonly title: string; readonly text: ReactNode };
  readonly row: (item: Item) => ReactNode;
};

/** A table of records, and what stands for it while there are none. */
export function RecordList<Data, Item>({ found, items, columns, caption, empty, row }: RecordListProps<Data, Item>) {
  const { data, hasNextPage = false, fetchNextPage } = found;
  const listed = data === undefined ? null : items(data);
  return (
    <>
      <Pending found={found} />
      {listed?.length === 0 && <Empty title={empty.title}>{empty.text}</Empty>}
      {listed !== null && listed.length > 0 && (
        <Table columns={columns} caption={caption}>
          {listed.map(row)}
        </Table>
      )}
      {fetchNextPage && <More found={{ hasNextPage, fetchNextPage }} />}
    </>
  );
}

/** All records of the pages of a list that were read. */
export function inPages<Item>({ pages }: { readonly pages: readonly { readonly data: readonly Item[] }[] }) {
  return pages.flatMap(({ data }) => data);
}

type ListPageProps<Data, Item> = Omit<PageProps, 'children' | 'back'> &
  RecordListProps<Data, Item> & {
    /** Above the list. */
    readonly before?: ReactNode;
    /** Dialogs. */
    readonly children?: ReactNode;
  };

export function ListPage<Data, Item>({ title, sub, actions, before, children, ...list }: ListPageProps<Data, Item>) {
  return (
    <Page title={title} sub={sub} actions={actions}>
      {before}
      <RecordList {...list} />
      {children}
    </Page>
  );
}

type DetailPageProps<Item> = Pick<PageProps, 'back'> & {
  readonly found: PendingProps['found'];
  /** Undefined until it is read. */
  readonly item: Item | undefined;
  readonly show: (item: Item) => Omit<PageProps, 'back'>;
};

/** The page of one record, also while it is loading or could not be loaded. */
export function DetailPage<Item>({ back, found, item, show }: DetailPageProps<Item>) {
  if (item === undefined) return <PendingPage back={back} found={found} />;
  const { children, ...page } = show(item);
  return (
    <Page back={back} {...page}>
      <Pending found={found} />
      {children}
    </Page>
  );
}

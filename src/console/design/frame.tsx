/** The frame of the pages about records: their list, and the page of one of them. Forms are in form.tsx. */

import type { ReactNode } from 'react';
import { Answer } from './answer.tsx';
import { Empty, More, Page, type PageProps, Pending, PendingPage, type PendingProps } from './page.tsx';
import { Table, type TableProps } from './table.tsx';

type Found<Data> = PendingProps['found'] & {
  readonly data: Data | undefined;
  readonly isPlaceholderData?: boolean;
  readonly hasNextPage?: boolean;
  readonly fetchNextPage?: () => unknown;
};

type RecordListProps<Data, Item> = Pick<TableProps, 'columns' | 'caption'> & {
  /** Of a table without links, so that keys scroll it. */
  readonly name?: string;
  readonly found: Found<Data>;
  readonly items: (data: Data) => readonly Item[];
  /** Says of a list without records what to do. */
  readonly empty: { readonly title: string; readonly text: ReactNode };
  readonly row: (item: Item) => ReactNode;
};

/** A table of records, and what stands for it while there are none. */
export function RecordList<Data, Item>(props: RecordListProps<Data, Item>) {
  const { name, found, items, columns, caption, empty, row } = props;
  const { data, isPlaceholderData = false, hasNextPage = false, fetchNextPage } = found;
  const listed = data === undefined ? null : items(data);
  return (
    <>
      <Pending found={found} />
      {listed !== null && (
        <Answer isOld={isPlaceholderData}>
          {listed.length === 0 && !isPlaceholderData && <Empty title={empty.title}>{empty.text}</Empty>}
          {listed.length > 0 && (
            <Table {...(name !== undefined && { name })} columns={columns} caption={caption}>
              {listed.map(row)}
            </Table>
          )}
          {fetchNextPage && <More found={{ hasNextPage, fetchNextPage }} />}
        </Answer>
      )}
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

/** What the pages have in common: their frame, the states of their data, and their lists. */

import { createLink } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react';
import { Button, Loading } from './button.tsx';
import { FailureNotice } from './failure.tsx';
import { Icon } from './icon.tsx';
import page from './page.module.css';

/** The heading of a page, which also names the tab of the browser. */
export function Heading({ children }: { readonly children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${heading.current?.textContent} · Spandrel`;
    return () => {
      document.title = 'Spandrel';
    };
  });
  return <h1 ref={heading}>{children}</h1>;
}

export type PageProps = {
  /** A link to the page above. */
  readonly back?: ReactNode;
  readonly title: ReactNode;
  /** What the page is for. */
  readonly sub?: ReactNode;
  /** Beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

export function Page({ back, title, sub, actions, children }: PageProps) {
  return (
    <div className={page.page}>
      {back}
      <div className={page.head}>
        <div>
          <Heading>{title}</Heading>
          {sub && <p className={page.sub}>{sub}</p>}
        </div>
        {actions}
      </div>
      {children}
    </div>
  );
}

/** A link to the page above. */
export const Back = createLink(({ label, ...rest }: ComponentProps<'a'> & { readonly label: string }) => (
  <a {...rest} className={page.back}>
    <Icon name="back" />
    {label}
  </a>
));

export type PendingProps = {
  readonly found: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown };
};

/** Stands for data that is loading, or could not be loaded. */
export function Pending({ found: { isPending, error, refetch } }: PendingProps) {
  if (isPending) return <Loading />;
  return error != null && <FailureNotice error={error} retry={refetch} />;
}

/** Stands for the page of a record that is loading, or could not be loaded. */
export function PendingPage({ back, found }: Pick<PageProps, 'back'> & PendingProps) {
  return (
    <div className={page.page}>
      {back}
      <Pending found={found} />
    </div>
  );
}

type MoreProps = { readonly found: { readonly hasNextPage: boolean; readonly fetchNextPage: () => unknown } };

/** Loads the next page of a list, if there is one. */
export function More({ found: { hasNextPage, fetchNextPage } }: MoreProps) {
  return hasNextPage && <Button onClick={() => void fetchNextPage()}>Show more</Button>;
}

/** How lists whose answers have a token are read page by page. */
export const PAGING = {
  pageParamKey: 'pageToken',
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken?: string | undefined }) => nextPageToken || undefined,
} as const;

/** Stands for a list without rows. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className={`${page.card} ${page.empty}`}>
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

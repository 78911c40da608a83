/** A list of threads or of users, page by page to the last one. */

import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  ThreadSort,
  ThreadSortDirection,
  type ThreadSummary,
  type UserSummary,
} from '../../../gen/spandrel/v1/threads_pb.js';
import { Answer } from '../design/answer.tsx';
import { Badge, joined, Snippet } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { Select } from '../design/form.tsx';
import { formatCost, formatCount, formatScore, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useKeys } from '../layout/keys.tsx';
import type { ChangeOf } from '../layout/search.ts';
import type { GroupSearch } from '../overview/group-search.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import styles from './threads.module.css';

type Sort = NonNullable<GroupSearch['sort']> | 'activity';

const SORTS: Readonly<Record<Sort, readonly [label: string, sort: ThreadSort]>> = {
  activity: ['Last activity', ThreadSort.LAST_ACTIVITY],
  traces: ['Turns', ThreadSort.TRACES],
  cost: ['Cost', ThreadSort.TOTAL_COST],
  tokens: ['Tokens', ThreadSort.TOKENS],
  failed: ['Failed turns', ThreadSort.ERRORS],
};
const DIRECTIONS = [
  ['desc', 'Descending'],
  ['asc', 'Ascending'],
] as const;

export const ROWS_AT_ONCE = 50;

/** The input of the api but for its range. */
export function toListInput({ q, sort, dir }: GroupSearch) {
  return {
    query: q ?? '',
    sortBy: SORTS[sort ?? 'activity'][1],
    sortDirection: dir === 'asc' ? ThreadSortDirection.ASC : ThreadSortDirection.DESC,
    pageSize: ROWS_AT_ONCE,
  };
}

export type InboxRow = Omit<ThreadSummary, '$typeName' | 'threadId' | 'userId'> & { readonly id: string };

export function rowsOf(summaries: readonly (ThreadSummary | UserSummary)[]): readonly InboxRow[] {
  return summaries.map((each) => ({ ...each, id: 'threadId' in each ? each.threadId : each.userId }));
}

type InboxProps = {
  /** In the plural, for example Users. */
  readonly title: string;
  /** The singular. */
  readonly noun: string;
  /** How a trace names it. */
  readonly sent: string;
  readonly search: GroupSearch;
  readonly onSearch: (change: ChangeOf<GroupSearch>) => void;
  readonly rows: readonly InboxRow[];
  readonly isPartial: boolean;
  readonly found: Parameters<typeof Pending>[0]['found'] &
    Parameters<typeof More>[0]['found'] & { readonly isPlaceholderData: boolean; readonly isFetching: boolean };
  readonly linkOf: (id: string) => ReactNode;
};

export function Inbox(props: InboxProps) {
  const { title, noun, sent, search, onSearch, rows, isPartial, found, linkOf } = props;
  const wanted = (search.q ?? '').trim();
  const isEmpty = !found.isPending && found.error === null && !found.isPlaceholderData && rows.length === 0;
  return (
    <Page
      title={title}
      sub={<>The {title.toLowerCase()} named in the metadata of traces.</>}
      actions={<RangePicker search={search} onChange={onSearch} />}
    >
      <div className={page.row}>
        <SearchField noun={noun} value={search.q ?? ''} onChange={(q) => onSearch({ q: q || undefined })} />
        <Select
          aria-label="Sorted by"
          value={search.sort ?? 'activity'}
          options={Object.entries(SORTS).map(([name, [label]]) => [name as Sort, label] as const)}
          onChange={(sort) => onSearch({ sort: sort === 'activity' ? undefined : sort })}
        />
        <Select
          aria-label="Direction"
          value={search.dir ?? 'desc'}
          options={DIRECTIONS}
          onChange={(dir) => onSearch({ dir: dir === 'asc' ? dir : undefined })}
        />
        {wanted !== '' && !rows.some(({ id }) => id === wanted) && <span>Open {linkOf(wanted)}</span>}
      </div>
      <Pending found={found} />
      {isEmpty && wanted !== '' && (
        <p role="status">No {noun} of this range has these words in a turn, or an id that begins with them.</p>
      )}
      {isEmpty && wanted === '' && (
        <div className={joined(page.card, page.padded)}>
          <h2>No {noun} in this range</h2>
          <p>
            Send each trace with its {noun}, and the first message, the turns, the cost and the score of every {noun}{' '}
            are shown here.
          </p>
          <Snippet title="In the body of a trace" code={sent} />
        </div>
      )}
      {rows.length > 0 && (
        <Answer isOld={found.isPlaceholderData}>
          <InboxRows {...props} />
        </Answer>
      )}
      {rows.length > 0 && (
        <p className={page.row} role="status">
          <span className={page.soft}>
            {found.isPlaceholderData
              ? 'Searching…'
              : `${formatCount(rows.length)} shown${found.hasNextPage ? ', there are more' : ''}`}
          </span>
          {!found.isPlaceholderData && <More found={found} />}
        </p>
      )}
      {isPartial && !found.isPlaceholderData && (
        <p className={page.soft}>
          The newest traces were searched. For {title.toLowerCase()} that are missing, choose a shorter range, or enter
          a whole id.
        </p>
      )}
    </Page>
  );
}

const WAIT_MS = 300;

type FieldProps = { readonly noun: string; readonly value: string; readonly onChange: (text: string) => void };

/** Searches once nothing was typed for a while. */
function SearchField({ noun, value, onChange }: FieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(value);
  const change = useRef(onChange);
  const router = useRouter();
  const [own] = useState(() => router.state.location.pathname);
  useEffect(() => {
    change.current = onChange;
  });
  // The address may change without the field.
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => {
      // Who has followed a link meanwhile would be led back.
      if (router.state.location.pathname === own) change.current(typed);
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed, value, router, own]);
  useKeys('Search', [{ keys: ['/'], label: `Find a ${noun}`, act: () => field.current?.focus() }]);
  return (
    <input
      ref={field}
      className={joined(controls.control, styles.search)}
      type="search"
      aria-label={`Find a ${noun} by words or id`}
      placeholder={`Words of a turn, or the id of a ${noun}`}
      spellCheck={false}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}

type InboxRowsProps = Pick<InboxProps, 'title' | 'noun' | 'rows' | 'linkOf'> & { readonly caption?: string };

/** One row each, which keys walk through. */
export function InboxRows({ title, noun, rows, linkOf, caption }: InboxRowsProps) {
  const list = useRef<HTMLDivElement>(null);
  const move = (step: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('td:first-child a') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  };
  useKeys(title, [
    { keys: ['j'], label: `Next ${noun}`, act: () => move(1) },
    { keys: ['k'], label: `Previous ${noun}`, act: () => move(-1) },
  ]);
  const name = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const numbers = ['Turns', 'Tokens', 'Cost', 'Score'].map((number) => ({ number }));
  return (
    <div ref={list}>
      <Table columns={[`${name} and first message`, 'Last activity', 'Last message', ...numbers]} caption={caption}>
        {rows.map((row) => (
          <Row key={row.id} row={row} linkOf={linkOf} />
        ))}
      </Table>
    </div>
  );
}

function Row({ row: { id, first, last, totals, scores }, linkOf }: Pick<InboxProps, 'linkOf'> & { row: InboxRow }) {
  const errors = Number(totals?.errors ?? 0n);
  const tokens = Number(totals?.promptTokens ?? 0n) + Number(totals?.completionTokens ?? 0n);
  const failed = Number(scores?.failed ?? 0n);
  return (
    <tr>
      <td className={styles.first}>
        <span dir="auto">{linkOf(id)}</span>
        <Excerpt text={first?.input} />
      </td>
      <InstantCell at={last?.startedAt} as="short" />
      <td className={styles.last}>
        <Excerpt text={last?.output || last?.input} />
      </td>
      <td className={page.number}>
        {errors > 0 && <Badge tone="bad">{formatCount(errors)} failed</Badge>} {formatCount(totals?.traces)}
      </td>
      <td className={page.number}>{tokens === 0 ? NONE : formatCount(tokens)}</td>
      <td className={page.number}>{formatCost(totals?.totalCost)}</td>
      <td className={page.number}>
        {failed > 0 && <Badge tone="bad">{formatCount(failed)} not passed</Badge>} {formatScore(scores?.score)}
      </td>
    </tr>
  );
}

function Excerpt({ text }: { readonly text: string | undefined }) {
  return (
    <span className={styles.excerpt} dir="auto">
      {nameControls(text ?? '') || NONE}
    </span>
  );
}

/** What differs from the period before. It is looked for after the sums, and holds up nothing. */

import { callUnaryMethod, useTransport } from '@connectrpc/connect-query';
import { skipToken, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Badge } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useProject, useSession } from '../session/session.tsx';
import { readBounds } from '../traces/range.ts';
import type { TraceListSearch } from '../traces/search.ts';
import {
  type Ask,
  type Change,
  findDearestUser,
  findNewErrors,
  findSilentMonitors,
  findSlower,
  type Search,
} from './changes.ts';
import styles from './overview.module.css';
import { changesKey, type TraceCounts } from './query-keys.ts';

type WhatChangedProps = {
  readonly slug: string;
  readonly range: TraceListSearch;
  /** Null while those that are known are of another range. */
  readonly counts: TraceCounts | null;
};

/** Each may be refused, or take too long, without the others. */
const SEARCHES: readonly (readonly [permission: string, find: (search: Search) => Promise<readonly Change[]>])[] = [
  ['traces:view', findNewErrors],
  ['analytics:view', findSlower],
  ['evaluations:view', findSilentMonitors],
  ['analytics:view', findDearestUser],
];

export function WhatChanged({ slug, range, counts }: WhatChangedProps) {
  const { may } = useSession();
  const project = useProject();
  const transport = useTransport();
  const found = useQuery({
    queryKey: changesKey(project.id, range, counts),
    queryFn: counts === null ? skipToken : ({ signal }) => findChanges(counts, signal),
  });
  async function findChanges(known: TraceCounts, signal: AbortSignal) {
    const ask: Ask = (method, input) => callUnaryMethod(transport, method, input, { signal });
    const search = { ask, range: readBounds(range), ...known };
    const changes: Change[] = [];
    let failed = 0;
    for (const [permission, find] of SEARCHES) {
      if (!may(permission)) continue;
      try {
        changes.push(...(await find(search)));
      } catch (error) {
        if (signal.aborted) throw error;
        failed += 1;
      }
    }
    return { changes, failed };
  }
  return (
    <section className={`${page.card} ${page.padded}`} aria-label="What changed" aria-busy={found.isPending}>
      <h2>What changed</h2>
      {found.isPending && <p className={page.soft}>Compared with the period before…</p>}
      {found.data && found.data.changes.length > 0 && (
        <ul className={styles.changes}>
          {found.data.changes.map((change) => (
            <li key={`${change.kind} ${change.text}`}>
              <Line slug={slug} range={range} change={change} />
            </li>
          ))}
        </ul>
      )}
      {found.data?.changes.length === 0 && <p className={page.soft}>Nothing stands out against the period before.</p>}
      {found.data && found.data.failed > 0 && (
        <p className={page.soft}>A part could not be looked up in time; a shorter range may help.</p>
      )}
    </section>
  );
}

type LineProps = { readonly slug: string; readonly range: TraceListSearch; readonly change: Change };

function Line({ slug, range, change: { kind, text, search, monitorId } }: LineProps) {
  const label = <bdi>{nameControls(text)}</bdi>;
  return (
    <>
      <Badge tone={kind === 'Dearest user' ? 'quiet' : 'warn'}>{kind}</Badge>{' '}
      {search !== null && (
        <Link to="/$slug/traces" params={{ slug }} search={{ ...range, ...search }}>
          {label}
        </Link>
      )}
      {monitorId !== undefined && (
        <Link to="/$slug/monitors/$monitorId" params={{ slug, monitorId }} search={range}>
          {label}
        </Link>
      )}
    </>
  );
}

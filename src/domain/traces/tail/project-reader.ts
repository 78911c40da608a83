/** Reads changed traces of a project once for all subscribers and offers each to those whose filter matches. */

import type { SearchFilter } from '../search/trace-filter.ts';
import { MATCH_BATCH_MAX, type TraceSearch } from '../search/trace-search-store.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { ChangePoll } from './change-poll.ts';
import type { Change, Subscriber } from './subscriber.ts';

type Subscription = {
  readonly filter: SearchFilter;
  /** Null: any. */
  readonly traceIds: ReadonlySet<string> | null;
  readonly subscriber: Subscriber;
};

export type ProjectReader = ReturnType<typeof createProjectReader>;

type ProjectReaderDeps = {
  readonly projectNumber: number;
  /** Traces first received before this instant have expired, by the settings last read; null: none has. */
  readonly expiredBeforeMs: () => number | null;
  /** Reads the settings of the project again. */
  readonly refresh: () => Promise<void>;
  readonly search: Pick<TraceSearch, 'match'>;
  readonly feed: Pick<ChangeFeed, 'listen'>;
  /** For changes of other processes; null: there are none. */
  readonly poll: ChangePoll | null;
  /** A new number each time. */
  readonly nextReadId: () => number;
  readonly onError: (error: unknown) => void;
  readonly onEmpty: () => void;
};

/** Changes beyond it are only counted. */
const CHANGED_MAX = 10_000;
/** Traces of one read; the others wait for the next. */
const READ_AT_ONCE = 3 * MATCH_BATCH_MAX;
/** A batch that fails this often is dropped, so that later changes are sent. */
const ATTEMPTS_MAX = 20;

type Group = { readonly filter: SearchFilter; readonly subscriptions: Set<Subscription> };

export function createProjectReader(deps: ProjectReaderDeps) {
  const { projectNumber, search, feed, poll, onError, onEmpty } = deps;
  const groups = new Map<string, Group>();
  let lastFilters: readonly SearchFilter[] = [];
  let changed = new Set<string>();
  let lost = 0;
  let count = 0;
  let failures = 0;
  const stop = feed.listen(projectNumber, note);
  const begun = poll?.begin().catch(onError) ?? Promise.resolve();

  function note(traceId: string): void {
    // A trace that changes after its read is added again, behind the others.
    if (changed.has(traceId)) return;
    if (changed.size < CHANGED_MAX) changed.add(traceId);
    else lost += 1;
  }

  function subscribers(): readonly Subscriber[] {
    return [...groups.values()].flatMap((group) => [...group.subscriptions].map(({ subscriber }) => subscriber));
  }

  async function pollChanges(): Promise<void> {
    if (poll?.isDue() !== true) return;
    const { traceIds, isShort } = await poll.next();
    for (const traceId of traceIds) note(traceId);
    lost += isShort ? 1 : 0;
  }

  /** The same list as before while it has the same filters: stores keep what they made of it. */
  function filtersOf(subscribed: readonly Group[]): readonly SearchFilter[] {
    const isSame =
      subscribed.length === lastFilters.length && subscribed.every(({ filter }, at) => filter === lastFilters[at]);
    if (!isSame) lastFilters = subscribed.map(({ filter }) => filter);
    return lastFilters;
  }

  /** Returns the ids left unread. */
  async function offerBatch(traceIds: readonly string[]): Promise<readonly string[]> {
    const subscribed = [...groups.values()];
    const filters = filtersOf(subscribed);
    try {
      const expiredBeforeMs = deps.expiredBeforeMs();
      const { traces, left } = await search.match({ projectNumber, expiredBeforeMs, traceIds, filters });
      failures = 0;
      const readId = deps.nextReadId();
      const changes = subscribed.map((): Change[] => []);
      for (const trace of traces) {
        poll?.markSeen(trace);
        const change = { traceId: trace.traceId, readId };
        for (const index of trace.fits) changes[index]?.push(change);
      }
      for (const [index, group] of subscribed.entries()) offer(group, changes[index] ?? []);
      return left;
    } catch (error) {
      onError(error);
      failures += 1;
      if (failures < ATTEMPTS_MAX) return traceIds;
      failures = 0;
      lost += traceIds.length;
      return [];
    }
  }

  async function offerChanged(): Promise<void> {
    const ids = [...changed].slice(0, READ_AT_ONCE);
    for (const id of ids) changed.delete(id);
    for (let start = 0; start < ids.length; ) {
      const some = ids.slice(start, start + MATCH_BATCH_MAX);
      const left = await offerBatch(some);
      start += some.length;
      if (left.length === 0) continue;
      // Unread ids come first next.
      changed = new Set([...left, ...ids.slice(start), ...changed]);
      return;
    }
  }

  return {
    /** Resolves once no later change is missed. */
    begun,
    /** Offers changes until the returned function is called; ends with its last subscriber. */
    add(interest: Subscription): () => void {
      const key = JSON.stringify(interest.filter);
      const group = groups.get(key) ?? { filter: interest.filter, subscriptions: new Set() };
      groups.set(key, group);
      group.subscriptions.add(interest);
      count += 1;
      return () => {
        if (!group.subscriptions.delete(interest)) return;
        count -= 1;
        // The key may belong to a newer group by now.
        if (group.subscriptions.size === 0 && groups.get(key) === group) groups.delete(key);
        if (count > 0) return;
        stop();
        onEmpty();
      };
    },
    /** Whether `read` may have work to do. */
    isDue: (): boolean =>
      changed.size > 0 || lost > 0 || poll?.isDue() === true || subscribers().some((subscriber) => subscriber.hasAny()),
    /** Reads and offers the changes since the last call. Never rejects; do not call it again before it has ended. */
    async read(): Promise<void> {
      try {
        await pollChanges();
        if (changed.size > 0 || subscribers().some((subscriber) => subscriber.hasAny())) await deps.refresh();
        await offerChanged();
      } catch (error) {
        // No change was taken from `changed`.
        onError(error);
      }
      if (lost === 0) return;
      for (const subscriber of subscribers()) subscriber.drop(lost);
      lost = 0;
    },
    subscribers,
    size: (): number => count,
  };
}

function offer({ subscriptions: interests }: Group, changes: readonly Change[]): void {
  if (changes.length === 0) return;
  for (const { traceIds, subscriber } of interests) {
    subscriber.offer(traceIds === null ? changes : changes.filter(({ traceId }) => traceIds.has(traceId)));
  }
}

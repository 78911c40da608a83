/** Reads what changed in one project, once for all who follow it, and offers it to those whose filters it fits. */

import type { SearchFilter } from '../trace-filter.ts';
import { MATCHED_AT_ONCE, type TraceSearch } from '../trace-search-store.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { ChangePoll } from './change-poll.ts';
import type { Change, Subscriber } from './subscriber.ts';

/** Who is told of what. */
export type Interest = {
  readonly filter: SearchFilter;
  /** Null: any. */
  readonly traceIds: ReadonlySet<string> | null;
  readonly subscriber: Subscriber;
};

export type ProjectReader = {
  /** Resolves once no change is missed from then on. */
  readonly begun: Promise<void>;
  /** Offers changes until what is answered is called; the reader is done with once nobody is left. */
  add(interest: Interest): () => void;
  /** Whether there may be anything to read. */
  isDue(): boolean;
  /** Reads and offers what changed since the last time. Never rejects, and is not to be called again before it has ended. */
  read(): Promise<void>;
  subscribers(): readonly Subscriber[];
  size(): number;
};

export type ProjectReaderDeps = {
  readonly projectNumber: number;
  /** A trace that came in before this instant counts as gone, by the settings as they were read last; null: none does. */
  readonly goneBeforeMs: () => number | null;
  /** Reads the settings of the project again. */
  readonly refresh: () => Promise<void>;
  readonly search: Pick<TraceSearch, 'match'>;
  readonly feed: Pick<ChangeFeed, 'listen'>;
  /** Where other processes change traces too; null: only this one does. */
  readonly poll: ChangePoll | null;
  /** Another number each time. */
  readonly nextLook: () => number;
  readonly onError: (error: unknown) => void;
  readonly onEmpty: () => void;
};

/** Beyond it changes are counted and not kept. */
const CHANGED_MAX = 10_000;
/** Looked at in one go; what is left over waits for the next. */
const READ_AT_ONCE = 3 * MATCHED_AT_ONCE;
/** What cannot be read again and again is left out, so that what came after it is told. */
const ATTEMPTS_MAX = 20;

type Group = { readonly filter: SearchFilter; readonly interests: Set<Interest> };

export function createProjectReader(deps: ProjectReaderDeps): ProjectReader {
  const { projectNumber, search, feed, poll, onError, onEmpty } = deps;
  const groups = new Map<string, Group>();
  let changed = new Set<string>();
  let lost = 0;
  let count = 0;
  let failures = 0;
  const stop = feed.listen(projectNumber, note);
  const begun = poll?.begin().catch(onError) ?? Promise.resolve();

  function note(traceId: string): void {
    // A change after the last read is a new one, and stands behind the others.
    if (changed.has(traceId)) return;
    if (changed.size < CHANGED_MAX) changed.add(traceId);
    else lost += 1;
  }

  function subscribers(): readonly Subscriber[] {
    return [...groups.values()].flatMap((group) => [...group.interests].map(({ subscriber }) => subscriber));
  }

  async function lookAround(): Promise<void> {
    if (poll?.isDue() !== true) return;
    const { traceIds, isShort } = await poll.next();
    for (const traceId of traceIds) note(traceId);
    lost += isShort ? 1 : 0;
  }

  /** Answers what could not be read yet. */
  async function offerSome(traceIds: readonly string[]): Promise<readonly string[]> {
    const asked = [...groups.values()];
    const filters = asked.map(({ filter }) => filter);
    try {
      const goneBeforeMs = deps.goneBeforeMs();
      const { traces, left } = await search.match({ projectNumber, goneBeforeMs, traceIds, filters });
      failures = 0;
      const look = deps.nextLook();
      const changes = asked.map((): Change[] => []);
      for (const trace of traces) {
        poll?.noteTold(trace);
        const change = { traceId: trace.traceId, look };
        for (const place of trace.fits) changes[place]?.push(change);
      }
      for (const [place, group] of asked.entries()) offer(group, changes[place] ?? []);
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
      const some = ids.slice(start, start + MATCHED_AT_ONCE);
      const left = await offerSome(some);
      start += some.length;
      if (left.length === 0) continue;
      // They come first the next time.
      changed = new Set([...left, ...ids.slice(start), ...changed]);
      return;
    }
  }

  return {
    begun,
    add(interest) {
      const key = JSON.stringify(interest.filter);
      const group = groups.get(key) ?? { filter: interest.filter, interests: new Set() };
      groups.set(key, group);
      group.interests.add(interest);
      count += 1;
      return () => {
        if (!group.interests.delete(interest)) return;
        count -= 1;
        // Another one may have begun under the same key.
        if (group.interests.size === 0 && groups.get(key) === group) groups.delete(key);
        if (count > 0) return;
        stop();
        onEmpty();
      };
    },
    isDue: () =>
      changed.size > 0 || lost > 0 || poll?.isDue() === true || subscribers().some((subscriber) => subscriber.hasAny()),
    async read() {
      try {
        await lookAround();
        if (changed.size > 0 || subscribers().some((subscriber) => subscriber.hasAny())) await deps.refresh();
        await offerChanged();
      } catch (error) {
        // Nothing was taken from what is to be told.
        onError(error);
      }
      if (lost === 0) return;
      for (const subscriber of subscribers()) subscriber.drop(lost);
      lost = 0;
    },
    subscribers,
    size: () => count,
  };
}

function offer({ interests }: Group, changes: readonly Change[]): void {
  if (changes.length === 0) return;
  for (const { traceIds, subscriber } of interests) {
    subscriber.offer(traceIds === null ? changes : changes.filter(({ traceId }) => traceIds.has(traceId)));
  }
}

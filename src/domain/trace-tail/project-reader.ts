/** Reads what changed in one project, once for all who follow it, and offers it to those whose filters it fits. */

import type { SearchFilter } from '../trace-filter.ts';
import { MATCHED_AT_ONCE, type MatchedTrace, type TraceSearch } from '../trace-search-store.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { ChangePoll } from './change-poll.ts';
import type { Subscriber } from './subscriber.ts';

/** Who is told of what. */
export type Interest = {
  readonly filter: SearchFilter;
  /** Null: any. */
  readonly traceIds: ReadonlySet<string> | null;
  readonly subscriber: Subscriber;
};

export type ProjectReader = {
  /** Offers changes until what is answered is called; the reader is done with once nobody is left. */
  add(interest: Interest): () => void;
  /** Reads and offers what changed since the last time. Never rejects. */
  read(): Promise<void>;
  size(): number;
};

export type ProjectReaderDeps = {
  readonly projectNumber: number;
  /** A trace that came in before this instant counts as gone; null: none does. */
  readonly goneBeforeMs: () => number | null;
  readonly search: Pick<TraceSearch, 'match'>;
  readonly feed: Pick<ChangeFeed, 'listen'>;
  /** Where other processes change traces too; null: only this one does. */
  readonly poll: ChangePoll | null;
  readonly onError: (error: unknown) => void;
  readonly onEmpty: () => void;
};

/** Beyond it changes are counted and not kept. */
const CHANGED_MAX = 10_000;
/** Looked at in one go; what is left over waits for the next. */
const READ_AT_ONCE = 3 * MATCHED_AT_ONCE;

type Group = { readonly filter: SearchFilter; readonly interests: Set<Interest> };

export function createProjectReader(deps: ProjectReaderDeps): ProjectReader {
  const { projectNumber, goneBeforeMs, search, feed, poll, onError, onEmpty } = deps;
  const groups = new Map<string, Group>();
  const changed = new Set<string>();
  let lost = 0;
  let count = 0;
  const stop = feed.listen(projectNumber, note);

  function note(traceId: string): void {
    // A change after the last read is a new one, and stands behind the others.
    if (changed.has(traceId)) return;
    if (changed.size < CHANGED_MAX) changed.add(traceId);
    else lost += 1;
  }

  function interests(): readonly Interest[] {
    return [...groups.values()].flatMap((group) => [...group.interests]);
  }

  async function offerAll(traceIds: readonly string[]): Promise<void> {
    const asked = [...groups.values()];
    const filters = asked.map(({ filter }) => filter);
    const matched = await search.match({ projectNumber, goneBeforeMs: goneBeforeMs(), traceIds, filters });
    for (const trace of matched) {
      poll?.noteTold(trace);
      for (const place of trace.fits) offer(asked[place], trace);
    }
  }

  return {
    add(interest) {
      const key = JSON.stringify(interest.filter);
      const group = groups.get(key) ?? { filter: interest.filter, interests: new Set() };
      groups.set(key, group);
      group.interests.add(interest);
      count += 1;
      return () => {
        if (!group.interests.delete(interest)) return;
        count -= 1;
        if (group.interests.size === 0) groups.delete(key);
        if (count > 0) return;
        stop();
        onEmpty();
      };
    },
    async read() {
      try {
        const polled = poll === null ? null : await poll.next();
        for (const traceId of polled?.traceIds ?? []) note(traceId);
        lost += polled?.isShort ? 1 : 0;
        const ids = [...changed].slice(0, READ_AT_ONCE);
        for (const id of ids) changed.delete(id);
        for (let start = 0; start < ids.length; start += MATCHED_AT_ONCE) {
          await offerAll(ids.slice(start, start + MATCHED_AT_ONCE));
        }
      } catch (error) {
        lost += 1;
        onError(error);
      }
      if (lost === 0) return;
      for (const { subscriber } of interests()) subscriber.drop(lost);
      lost = 0;
    },
    size: () => count,
  };
}

function offer(group: Group | undefined, { traceId, updatedAtMs }: MatchedTrace): void {
  for (const { traceIds, subscriber } of group?.interests ?? []) {
    if (traceIds === null || traceIds.has(traceId)) subscriber.offer({ traceId, updatedAtMs });
  }
}

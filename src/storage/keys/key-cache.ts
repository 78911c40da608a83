/**
 * Keeps what authentication reads. The generation moves on with every change that authentication must see, before that
 * change is acknowledged; so what was read in the current generation is what the database holds, and a revoked key is
 * refused on the very next request.
 */

import type { ApiKey, Project } from '../../domain/caller.ts';
import type { KeyStore } from '../../domain/store.ts';

/** Entries of each kind; beyond it all that is kept is dropped, which costs a read each. */
const ENTRIES_MAX = 10_000;

/** As long as a key id, and none. */
const NO_KEY_ID = '-'.repeat(16);

export type KeyReader = Pick<KeyStore, 'findApiKey' | 'findProject' | 'hasImportedCredentials'> & {
  /** Every key id there is, revoked ones included. Null: unknown ids are asked for like known ones. */
  readonly listKeyIds: (() => Promise<readonly string[]>) | null;
  /** By the key a project has, or by the one before, also after its overlap. */
  findProjectByKey(keyHash: Buffer): Promise<ProjectByKey | null>;
};

export type ProjectByKey = {
  readonly project: Project;
  /** When the key stops working; null for the key a project has. */
  readonly untilMs: number | null;
};

/** Null: there is none. */
type Entries<V> = Map<string, V | null>;

type Kept = {
  readonly generation: number;
  readonly sinceMs: number;
  readonly keys: Entries<ApiKey>;
  readonly projectsByHash: Entries<ProjectByKey>;
  readonly projects: Entries<Project>;
  keyIds: ReadonlySet<string> | null;
  hasImported: boolean | null;
};

export type KeyCacheDeps = {
  readonly reader: KeyReader;
  /** Answers a number that was current at some moment after the call. */
  readonly generation: () => number | Promise<number>;
  /** For changes that the generation does not count: how long answers are kept while it stays. */
  readonly age?: KeyCacheAge;
};

export type KeyCacheAge = {
  readonly maxMs: number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

const AGELESS: KeyCacheAge = { maxMs: 0, nowMs: () => 0 };

export function cacheKeyReads({ reader, generation, age = AGELESS }: KeyCacheDeps): Omit<KeyStore, 'insertApiKey'> {
  let kept: Kept | null = null;

  /**
   * Hands over what may still be used. The generation is known before anything is read for it, and an answer that was
   * on its way when it moved on is filed with what is no longer used.
   */
  function withCurrent<T>(use: (now: Kept) => Promise<T>): Promise<T> {
    const current = generation();
    // A driver that knows the number must not wait for it.
    return typeof current === 'number' ? use(keptIn(current)) : current.then((number) => use(keptIn(number)));
  }

  function keptIn(current: number): Kept {
    const instantMs = age.nowMs();
    // Different is enough: a database that was set back counts on from a smaller number.
    if (kept === null || kept.generation !== current || instantMs - kept.sinceMs > age.maxMs) {
      kept = createKept(current, instantMs);
    }
    return kept;
  }

  return {
    findApiKey: (keyId) =>
      withCurrent(async (now) => {
        if (reader.listKeyIds !== null) {
          // An unknown id costs as much as a known one, and a flood of them no reads at all.
          now.keyIds ??= new Set(await reader.listKeyIds());
          if (!now.keyIds.has(keyId)) return null;
        }
        return await lookUp(now.keys, keyId, () => reader.findApiKey(keyId));
      }),
    async readInVain() {
      // Where all ids are at hand, an unknown one costs no read.
      if (reader.listKeyIds === null) await reader.findApiKey(NO_KEY_ID);
    },
    findProjectByKeyHash: (keyHash, atMs) =>
      withCurrent(async (now) => {
        const read = () => reader.findProjectByKey(keyHash);
        const found = await lookUp(now.projectsByHash, keyHash.toString('latin1'), read);
        // A key in its overlap ends by the clock alone.
        return found === null || (found.untilMs !== null && atMs >= found.untilMs) ? null : found.project;
      }),
    findProject: (projectId) =>
      withCurrent((now) => lookUp(now.projects, projectId, () => reader.findProject(projectId))),
    hasImportedCredentials: () =>
      withCurrent(async (now) => {
        now.hasImported ??= await reader.hasImportedCredentials();
        return now.hasImported;
      }),
  };
}

async function lookUp<V>(entries: Entries<V>, name: string, read: () => Promise<V | null>): Promise<V | null> {
  const known = entries.get(name);
  if (known !== undefined) return known;
  const value = await read();
  if (entries.size >= ENTRIES_MAX) entries.clear();
  entries.set(name, value);
  return value;
}

function createKept(generation: number, sinceMs: number): Kept {
  return {
    generation,
    sinceMs,
    keys: new Map(),
    projectsByHash: new Map(),
    projects: new Map(),
    keyIds: null,
    hasImported: null,
  };
}

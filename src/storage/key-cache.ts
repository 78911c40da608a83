/**
 * Keeps what authentication reads. Only this process writes to the file (its lock sees to that), and every
 * write but an append of traces moves the generation on before it is acknowledged; so what was read in the
 * current generation is what the database holds, and a revoked key is refused on the very next request.
 */

import type { ApiKey, Project } from '../domain/caller.ts';
import type { KeyStore } from '../domain/store.ts';
import type { KeyReader } from './sqlite/key-reader.ts';

/** Entries of each kind; beyond it all that is kept is dropped, which costs a read each. */
const ENTRIES_MAX = 10_000;
/** For whoever edits the file behind the server's back: even that is seen soon. */
const AGE_MAX_MS = 1_000;

type Kept = {
  readonly generation: number;
  readonly sinceMs: number;
  readonly keys: Map<string, ApiKey>;
  readonly projectsByHash: Map<string, Project>;
  readonly projects: Map<string, Project>;
  keyIds: ReadonlySet<string> | null;
  hasImported: boolean | null;
};

export type KeyCacheDeps = {
  readonly reader: KeyReader;
  readonly generation: () => number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

export function cacheKeyReads({ reader, generation, nowMs }: KeyCacheDeps): Omit<KeyStore, 'insertApiKey'> {
  let kept = createKept(generation(), nowMs());

  /** What may still be used. An answer that was on its way meanwhile is filed with what is no longer used. */
  function current(): Kept {
    const instantMs = nowMs();
    if (kept.generation !== generation() || instantMs - kept.sinceMs > AGE_MAX_MS) {
      kept = createKept(generation(), instantMs);
    }
    return kept;
  }

  return {
    async findApiKey(keyId) {
      const now = current();
      // An unknown id costs as much as a known one, and a flood of them no reads at all.
      now.keyIds ??= new Set(await reader.listKeyIds());
      if (!now.keyIds.has(keyId)) return null;
      return now.keys.get(keyId) ?? keep(now.keys, keyId, await reader.findApiKey(keyId));
    },
    async findProjectByKeyHash(keyHash, atMs) {
      const now = current();
      const name = keyHash.toString('latin1');
      const known = now.projectsByHash.get(name);
      if (known) return known;
      const project = keep(now.projectsByHash, name, await reader.findProjectByKey(keyHash));
      // A key in its overlap ends by the clock alone, so it is read every time.
      return project ?? (await reader.findProjectByPreviousKey(keyHash, atMs));
    },
    async findProject(projectId) {
      const now = current();
      return now.projects.get(projectId) ?? keep(now.projects, projectId, await reader.findProject(projectId));
    },
    async hasImportedCredentials() {
      const now = current();
      now.hasImported ??= await reader.hasImportedCredentials();
      return now.hasImported;
    },
  };
}

function keep<V>(entries: Map<string, V>, name: string, value: V | null): V | null {
  if (value === null) return null;
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

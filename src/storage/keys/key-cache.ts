/**
 * Caches what authentication reads. A generation number grows with every change that authentication must see, before
 * that change is acknowledged. So entries of the current generation match the database, and a revoked key is refused on
 * the very next request.
 */

import type { ApiKey, PresentedSession, Project } from '../../domain/caller.ts';
import type { GatewaySetup } from '../../domain/gateway/gateway-setup.ts';
import type { KeyStore, MaybePromise } from '../../domain/management/management-port.ts';
import { isIdle } from '../../domain/sessions/session.ts';
import type { PresentedKey } from '../../domain/virtual-keys/virtual-key.ts';

/** The most entries of each kind; a full cache is emptied. */
const ENTRIES_MAX = 10_000;

/** Placeholder key id: it has the length of a key id. */
const PLACEHOLDER_KEY_ID = '-'.repeat(16);

export type KeyReader = Pick<KeyStore, 'findApiKey' | 'findProject' | 'hasImportedCredentials'> & {
  /** Every key id, revoked ones included. Null: unknown ids are looked up like known ones. */
  readonly listKeyIds: (() => Promise<readonly string[]>) | null;
  /** By the current key of a project or its previous one, also after the overlap. */
  findProjectByKey(keyHash: Buffer): Promise<ProjectByKey | null>;
  /** By the secret of a virtual key or the secret before, also after the overlap. */
  findVirtualKey(secretHash: Buffer): Promise<VirtualKeyBySecret | null>;
  findSession(secretHash: Buffer): Promise<PresentedSession | null>;
  findGatewaySetup(organizationId: string): Promise<GatewaySetup>;
};

export type VirtualKeyBySecret = {
  readonly key: PresentedKey['key'];
  readonly principalActive: boolean;
  /** When the secret stops working; null for the current one. */
  readonly untilMs: number | null;
};

export type ProjectByKey = {
  readonly project: Project;
  /** When the key stops working; null for the current key. */
  readonly untilMs: number | null;
};

/** Null: nothing has that name. */
type Entries<V> = Map<string, V | null>;

type Kept = {
  readonly generation: number;
  readonly sinceMs: number;
  readonly keys: Entries<ApiKey>;
  readonly projectsByHash: Entries<ProjectByKey>;
  readonly projects: Entries<Project>;
  readonly virtualKeysByHash: Entries<VirtualKeyBySecret>;
  readonly sessionsByHash: Entries<PresentedSession>;
  readonly setups: Map<string, GatewaySetup>;
  keyIds: ReadonlySet<string> | null;
  hasImported: boolean | null;
};

export type KeyCacheDeps = {
  readonly reader: KeyReader;
  /** Returns a generation that was current at some moment after the call. */
  readonly generation: () => number | Promise<number>;
  /** How long entries live within one generation, for changes that it does not count. */
  readonly age?: KeyCacheAge;
};

type KeyCacheAge = {
  readonly maxMs: number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

const NO_AGE_LIMIT: KeyCacheAge = { maxMs: 0, nowMs: () => 0 };

export function cacheKeyReads({ reader, generation, age = NO_AGE_LIMIT }: KeyCacheDeps): KeyStore {
  let kept: Kept | null = null;

  /**
   * Passes on the current entries. The generation is read before any entry, so an answer that arrives after a change
   * lands among entries that are no longer used.
   */
  function withCurrent<T>(use: (now: Kept) => MaybePromise<T>): MaybePromise<T> {
    const current = generation();
    // A known number is used at once, without waiting for a promise.
    return typeof current === 'number' ? use(keptIn(current)) : current.then((number) => use(keptIn(number)));
  }

  function keptIn(current: number): Kept {
    const instantMs = age.nowMs();
    // Any other number counts, not only a larger one: a restored database continues from a smaller one.
    if (kept === null || kept.generation !== current || instantMs - kept.sinceMs > age.maxMs) {
      const hashed = { projectsByHash: new Map(), virtualKeysByHash: new Map(), sessionsByHash: new Map() };
      const entries = { keys: new Map(), projects: new Map(), setups: new Map(), ...hashed };
      kept = { generation: current, sinceMs: instantMs, ...entries, keyIds: null, hasImported: null };
    }
    return kept;
  }

  async function readKeyIds(now: Kept): Promise<ReadonlySet<string>> {
    now.keyIds ??= new Set(await reader.listKeyIds?.());
    return now.keyIds;
  }

  return {
    findApiKey: (keyId) =>
      withCurrent((now) => {
        const find = () => lookUp(now.keys, keyId, () => reader.findApiKey(keyId));
        if (reader.listKeyIds === null) return find();
        // An unknown id costs as much as a known one, and a flood of them costs no reads.
        const findListed = (keyIds: ReadonlySet<string>) => (keyIds.has(keyId) ? find() : null);
        return now.keyIds === null ? readKeyIds(now).then(findListed) : findListed(now.keyIds);
      }),
    // With all ids in memory, an unknown one costs no read.
    readDecoy: () => (reader.listKeyIds === null ? reader.findApiKey(PLACEHOLDER_KEY_ID) : null),
    findProjectByKeyHash: (keyHash, atMs) =>
      withCurrent((now) => {
        // The end of the overlap is a matter of the clock alone.
        const projectOf = (found: ProjectByKey | null) => (isOver(found, atMs) ? null : (found?.project ?? null));
        const found = lookUp(now.projectsByHash, keyHash.toString('latin1'), () => reader.findProjectByKey(keyHash));
        return then(found, projectOf);
      }),
    findProject: (projectId) => withCurrent((now) => projectIn(now, projectId)),
    findVirtualKey: (secretHash, atMs) =>
      withCurrent((now) => {
        const name = secretHash.toString('latin1');
        const found = lookUp(now.virtualKeysByHash, name, () => reader.findVirtualKey(secretHash));
        return then(found, (known) => {
          if (known === null || isOver(known, atMs)) return null;
          return then(projectIn(now, known.key.traceProjectId), (project) => project && presented(known, project));
        });
      }),
    findSession: (secretHash, atMs) =>
      withCurrent(({ sessionsByHash }) => {
        const name = secretHash.toString('latin1');
        const read = () => reader.findSession(secretHash);
        // No generation counts the uses of a session, so one that looks idle is read again.
        return then(lookUp(sessionsByHash, name, read), (known) =>
          known !== null && isIdle(known, atMs) ? readEntry(sessionsByHash, name, read) : known,
        );
      }),
    findGatewaySetup: (organizationId) =>
      withCurrent(({ setups }) => setups.get(organizationId) ?? readSetup(setups, organizationId)),
    hasImportedCredentials: () => withCurrent((now) => now.hasImported ?? readImported(now)),
  };

  function projectIn(now: Kept, projectId: string): MaybePromise<Project | null> {
    return lookUp(now.projects, projectId, () => reader.findProject(projectId));
  }

  async function readSetup(setups: Kept['setups'], organizationId: string): Promise<GatewaySetup> {
    const setup = await reader.findGatewaySetup(organizationId);
    if (setups.size >= ENTRIES_MAX) setups.clear();
    setups.set(organizationId, setup);
    return setup;
  }

  async function readImported(now: Kept): Promise<boolean> {
    now.hasImported = await reader.hasImportedCredentials();
    return now.hasImported;
  }
}

/** Whether an overlap has ended. */
function isOver(found: { readonly untilMs: number | null } | null, atMs: number): boolean {
  return found !== null && found.untilMs !== null && atMs >= found.untilMs;
}

function presented({ key, principalActive }: VirtualKeyBySecret, project: Project): PresentedKey {
  const { organizationId: id, organizationNumber: number, priceVersion, promptVersion } = project;
  return { key, organization: { id, number, priceVersion, promptVersion }, project, principalActive };
}

/** Without a wait for what is known. */
function then<V, R>(value: MaybePromise<V>, use: (value: V) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

function lookUp<V>(entries: Entries<V>, name: string, read: () => MaybePromise<V | null>): MaybePromise<V | null> {
  const known = entries.get(name);
  return known === undefined ? readEntry(entries, name, read) : known;
}

async function readEntry<V>(entries: Entries<V>, name: string, read: () => MaybePromise<V | null>): Promise<V | null> {
  const value = await read();
  if (entries.size >= ENTRIES_MAX) entries.clear();
  entries.set(name, value);
  return value;
}

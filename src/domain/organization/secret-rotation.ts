/** The root secret of a database, and how another one takes its place. */

import type { RandomBytes } from '../clock.ts';
import type { InstallationStore, InstalledSecret, SealedStore, SealedValue } from '../management/management-port.ts';
import { deriveRootKeys, type EncryptionKeys, openFor, type RootKeys, sealFor, secretsEqual } from '../secrets.ts';

export type RootSecrets = {
  readonly current: string;
  /** The one before, while its values are sealed anew; null otherwise. */
  readonly previous: string | null;
};

/** The root secret is not the one this database was created with. */
export class WrongSecret extends Error {
  constructor() {
    super('SPANDREL_SECRET does not belong to this database');
  }
}

const PEPPER = 'installation/pepper';
/** Servers that know the previous secret alone would go on sealing with it for ever. */
const PASSES_MAX = 5;

/**
 * The keys of a database. Keys of clients stay valid when the secret is replaced: they are stored as hashes, so the
 * pepper of the first secret stays, sealed with the newest one. Throws WrongSecret when neither secret is that of the
 * database; null: it has none yet.
 */
export function openRootKeys({ current, previous }: RootSecrets, installed: InstalledSecret | null): RootKeys {
  const newest = deriveRootKeys(current);
  if (installed === null) return newest;
  const older = previous === null ? [] : [deriveRootKeys(previous)];
  const owner = [newest, ...older].find(({ verifier }) => secretsEqual(verifier, installed.verifier));
  if (owner === undefined) throw new WrongSecret();
  const encryptionKeys: EncryptionKeys = [newest.encryptionKeys[0], ...older.map((keys) => keys.encryptionKeys[0])];
  const { pepper } = installed;
  const opened = pepper === null ? owner.pepper : openFor({ keys: encryptionKeys, belongsTo: PEPPER }, pepper);
  return { ...owner, pepper: opened, encryptionKeys };
}

export type RotationDeps = {
  readonly installation: InstallationStore;
  readonly sealed: SealedStore;
  readonly random: RandomBytes;
};

export type Rotation = {
  /** How many values were sealed anew. */
  readonly resealed: number;
  /** Values that neither secret opens, which were left as they are. */
  readonly unreadable: readonly string[];
};

/**
 * Seals every stored secret with the current root secret, then makes it the one of the database. May be interrupted and
 * run again: until the end, both secrets are needed. Throws an Error with a line for the operator.
 */
export async function rotateSecret(
  { installation, sealed, random }: RotationDeps,
  secrets: RootSecrets & { readonly previous: string },
): Promise<Rotation> {
  const installed = await installation.readSecret();
  if (installed === null) throw new Error('the database is new: start the server with the secret it shall have');
  const { pepper, encryptionKeys } = openRootKeys(secrets, installed);
  let resealed = 0;
  for (let pass = 1; ; pass += 1) {
    const found = await resealAll(sealed, encryptionKeys, random);
    resealed += found.resealed;
    if (found.resealed > 0) {
      if (pass < PASSES_MAX) continue;
      throw new Error(
        'a server still seals with the previous secret: give both secrets to every server, restart them, and repeat',
      );
    }
    const newest = deriveRootKeys(secrets.current);
    await installation.replaceSecret({
      verifier: newest.verifier,
      pepper: sealFor({ keys: newest.encryptionKeys, belongsTo: PEPPER }, pepper, random),
    });
    return { resealed, unreadable: found.unreadable };
  }
}

async function resealAll(store: SealedStore, keys: EncryptionKeys, random: RandomBytes): Promise<Rotation> {
  const unreadable: string[] = [];
  let resealed = 0;
  for (const column of await store.columns()) {
    let after: string | null = null;
    do {
      const page = await store.list(column, after);
      const changes: { value: SealedValue; sealed: Buffer }[] = [];
      for (const value of page.values) {
        const read = openOf(value, keys);
        if (read.kind === 'unreadable') unreadable.push(`${column} ${value.belongsTo}`.trim());
        if (read.kind === 'previous')
          changes.push({ value, sealed: sealFor({ keys, belongsTo: value.belongsTo }, read.plain, random) });
      }
      await store.replace(column, changes);
      resealed += changes.length;
      after = page.next;
    } while (after !== null);
  }
  return { resealed, unreadable };
}

type Read = { readonly kind: 'newest' | 'unreadable' } | { readonly kind: 'previous'; readonly plain: Buffer };

function openOf({ sealed, belongsTo }: SealedValue, keys: EncryptionKeys): Read {
  if (tryOpen([keys[0]], belongsTo, sealed) !== null) return { kind: 'newest' };
  const plain = tryOpen(keys, belongsTo, sealed);
  return plain === null ? { kind: 'unreadable' } : { kind: 'previous', plain };
}

function tryOpen(keys: EncryptionKeys, belongsTo: string, sealed: Buffer): Buffer | null {
  try {
    return openFor({ keys, belongsTo }, sealed);
  } catch {
    return null;
  }
}

/** The key of a project: minted, or brought along from an older installation, and replaced. */

import { isAdministrator } from './administrators.ts';
import { auditRecord } from './audit.ts';
import type { RandomBytes } from './clock.ts';
import { decideOnce } from './decide-once.ts';
import { readDirectory } from './directory.ts';
import { Fault, type Reason } from './fault.ts';
import { refreshRights } from './fresh-caller.ts';
import type { ManagementStore, ProjectRecord } from './management.ts';
import { administratorRequired, type ManagementCall, type ReceiptOf } from './management-call.ts';
import { requireCovered } from './member-grants.ts';
import { hashSecret, mintProjectKey, parseToken } from './secrets.ts';

export type ProjectKeyDeps = {
  readonly store: ManagementStore;
  readonly random: RandomBytes;
  readonly pepper: Buffer;
  /** The first is used for minting. */
  readonly keyPrefixes: readonly string[];
};

export type KeyRotation = {
  readonly id: string;
  /** How long the key before works on; 0: not at all. */
  readonly overlapSeconds: number;
  /** A key of an older installation to keep; null: a new one. */
  readonly apiKey: string | null;
};

export type RotatedKey = { readonly apiKey: string; readonly overlapEndsAtMs: number | null };

type IssuedKey = Pick<ProjectRecord, 'keyHash' | 'keyHint' | 'keyImported'> & { readonly token: string };

const HINT_CHARACTERS = 4;

/** What is stored of a key, and the key itself. */
export function issueProjectKey({ random, pepper, keyPrefixes }: ProjectKeyDeps, imported: string | null): IssuedKey {
  const token = imported ?? mintProjectKey(keyPrefixes[0] ?? '', random).token;
  const parsed = parseToken(token, keyPrefixes);
  return {
    token,
    keyHash: hashSecret(pepper, token),
    keyHint: token.slice(-HINT_CHARACTERS),
    // Only of keys that look like our own does a checksum say that they are.
    keyImported: !(parsed?.kind === 'projectKey' && parsed.checksumValid),
  };
}

/** What keeps a text of valid length from being a key of a project. The text itself is never repeated. */
export function importedKeyProblems(apiKey: string, prefixes: readonly string[]): readonly Reason[] {
  const refused = (message: string): readonly Reason[] => [{ field: 'apiKey', type: 'invalid_format', message }];
  if (!/^[\x21-\x7e]*$/.test(apiKey)) return refused('apiKey must consist of visible ASCII characters');
  // Two credentials of one text would shadow each other, and whoever knows one would hold the other.
  if (parseToken(apiKey, prefixes)?.kind !== 'apiKey') return [];
  return refused('apiKey must not have the shape of an API key of the organization');
}

export function projectKeyTaken(): never {
  throw new Fault('project_key_taken', 'The key is already in use; send another one, or none to mint it.');
}

type Rotation = {
  readonly call: ManagementCall;
  readonly rotation: KeyRotation;
  readonly receipt: ReceiptOf<RotatedKey>;
  /** Throws for what the caller may not do this to. */
  readonly find: (call: ManagementCall) => Promise<ProjectRecord>;
};

/** Gives the project a new key. Only the newest of the keys before it lives on. */
export function rotateProjectKey(
  deps: ProjectKeyDeps,
  { call, rotation, receipt, find }: Rotation,
): Promise<RotatedKey> {
  const { store, random } = deps;
  const { actor, nowMs } = call;
  const organizationId = call.caller.organization.id;
  return decideOnce(store, call, {
    receipt,
    onKeyTaken: projectKeyTaken,
    async judge() {
      const fresh = await refreshRights(store, call);
      const current = await find(fresh);
      if (rotation.apiKey !== null && !isAdministrator(fresh.caller, organizationId)) throw administratorRequired();
      // A project key can do everything in its project, so only who can do all that themselves may hold a new one.
      requireCovered(fresh, [{ role: 'ADMIN', scopeType: 'PROJECT', scopeId: current.id, permissions: [] }], {
        directory: await readDirectory(store, organizationId),
        code: 'api_key_scope_violation',
      });
      return current;
    },
    take(current) {
      const { token, ...key } = issueProjectKey(deps, rotation.apiKey);
      if (isInUse(current, key.keyHash, nowMs)) projectKeyTaken();
      const overlapEndsAtMs = rotation.overlapSeconds === 0 ? null : nowMs + rotation.overlapSeconds * 1000;
      const overlaps = overlapEndsAtMs !== null;
      const project = {
        ...current,
        ...key,
        previousKeyHash: overlaps ? current.keyHash : null,
        previousKeyUntilMs: overlapEndsAtMs,
        previousKeyImported: overlaps ? current.keyImported : null,
        updatedAtMs: nowMs,
      };
      const result = { apiKey: token, overlapEndsAtMs };
      const deed = { action: 'project.rotateApiKey', targetType: 'project', targetId: current.id };
      const audit = [auditRecord(actor, deed, { nowMs, random })];
      return { result, change: { projects: [project], audit } };
    },
  });
}

function isInUse(project: ProjectRecord, keyHash: Buffer, nowMs: number): boolean {
  const { previousKeyHash, previousKeyUntilMs } = project;
  if (project.keyHash.equals(keyHash)) return true;
  return previousKeyHash?.equals(keyHash) === true && previousKeyUntilMs !== null && nowMs < previousKeyUntilMs;
}

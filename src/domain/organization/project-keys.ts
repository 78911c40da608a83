/** Project keys: minting, importing from an older installation, and rotation. */

import { Fault, type Reason } from '../fault.ts';
import { readDirectory } from '../management/directory.ts';
import { refreshRights } from '../management/fresh-caller.ts';
import type { ProjectRecord } from '../management/management.ts';
import { administratorRequired, type IdempotentCall, type ManagementCall } from '../management/management-call.ts';
import { type CommitDeps, commitIdempotently } from '../management/optimistic-commit.ts';
import { hashSecret, mintProjectKey, parseToken } from '../secrets.ts';
import { endSessions } from '../sessions/session.ts';
import { isAdministrator } from './administrators.ts';
import { requireCovered } from './member-grants.ts';

export type ProjectKeyDeps = CommitDeps & {
  readonly pepper: Buffer;
  /** New keys get the first prefix. */
  readonly keyPrefixes: readonly string[];
};

export type KeyRotation = {
  readonly id: string;
  /** How long the previous key stays valid; 0: not at all. */
  readonly overlapSeconds: number;
  /** A key of an older installation to import; null: mint a new one. */
  readonly apiKey: string | null;
};

export type RotatedKey = { readonly apiKey: string; readonly overlapEndsAtMs: number | null };

type IssuedKey = Pick<ProjectRecord, 'keyHash' | 'keyHint' | 'keyImported'> & { readonly token: string };

const HINT_CHARACTERS = 4;

/** The key and the fields that are stored of it. */
export function issueProjectKey({ random, pepper, keyPrefixes }: ProjectKeyDeps, imported: string | null): IssuedKey {
  const token = imported ?? mintProjectKey(keyPrefixes[0] ?? '', random).token;
  const parsed = parseToken(token, keyPrefixes);
  return {
    token,
    keyHash: hashSecret(pepper, token),
    keyHint: token.slice(-HINT_CHARACTERS),
    // Only keys of the minted format have a checksum.
    keyImported: !(parsed?.kind === 'projectKey' && parsed.checksumValid),
  };
}

/** Problems of a text as an imported project key. Messages never repeat the text. */
export function importedKeyProblems(apiKey: string, prefixes: readonly string[]): readonly Reason[] {
  const refused = (message: string): readonly Reason[] => [{ field: 'apiKey', type: 'invalid_format', message }];
  if (!/^[\x21-\x7e]*$/.test(apiKey)) return refused('apiKey must consist of visible ASCII characters');
  // Otherwise one text could be two credentials, and knowing one would give access to the other.
  if (parseToken(apiKey, prefixes)?.kind !== 'apiKey') return [];
  return refused('apiKey must not have the shape of an API key of the organization');
}

export function projectKeyTaken(): never {
  throw new Fault('project_key_taken', 'The key is already in use; send another one, or none to mint it.');
}

type Rotation = KeyRotation & {
  /** Throws when the caller may not rotate the project's key. */
  readonly findProject: (call: ManagementCall) => Promise<ProjectRecord>;
};

/** Gives the project a new key. Only the latest previous key stays valid. */
export function rotateProjectKey(
  deps: ProjectKeyDeps,
  call: IdempotentCall<RotatedKey>,
  rotation: Rotation,
): Promise<RotatedKey> {
  const { store } = deps;
  const { nowMs } = call;
  const organizationId = call.caller.organization.id;
  return commitIdempotently(deps, call, {
    onProjectKeyTaken: projectKeyTaken,
    async checkCaller() {
      const fresh = await refreshRights(store, call);
      const current = await rotation.findProject(fresh);
      if (rotation.apiKey !== null && !isAdministrator(fresh.caller, organizationId)) throw administratorRequired();
      // A project key permits everything in its project, so only callers with all these permissions may get a new one.
      requireCovered(fresh, [{ role: 'ADMIN', scopeType: 'PROJECT', scopeId: current.id, permissions: [] }], {
        directory: await readDirectory(store, organizationId),
        code: 'api_key_scope_violation',
      });
      return current;
    },
    attempt(current) {
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
      const audited = { action: 'project.rotateApiKey', targetId: current.id };
      const change = { projects: [project], ...endSessions({ projectId: project.id }, overlapEndsAtMs) };
      return { result, change, audited };
    },
  });
}

function isInUse(project: ProjectRecord, keyHash: Buffer, nowMs: number): boolean {
  const { previousKeyHash, previousKeyUntilMs } = project;
  if (project.keyHash.equals(keyHash)) return true;
  return previousKeyHash?.equals(keyHash) === true && previousKeyUntilMs !== null && nowMs < previousKeyUntilMs;
}

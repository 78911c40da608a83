/** When keys were last used. */

import { type EntityManager, LockMode } from '@mikro-orm/core';
import type { CredentialUse } from '../../domain/management.ts';
import { ApiKey } from '../tables/keys.ts';
import { Project } from '../tables/organization.ts';

const FREE = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const;

/**
 * See ManagementStore.noteUse. Waits for nobody while it holds rows: what others are changing is noted afterwards, one
 * by one.
 */
export async function noteUse(fork: () => EntityManager, uses: readonly CredentialUse[]): Promise<void> {
  const noted = await fork().transactional(async (tx) => {
    const keys = await tx.find(ApiKey, { id: { $in: idsOf(uses, 'api_key') } }, FREE);
    const projects = await tx.find(Project, { id: { $in: idsOf(uses, 'project_key') } }, FREE);
    const free = new Set([...keys, ...projects].map((row) => row.id));
    for (const use of uses) if (free.has(use.id)) await note(tx, use);
    return free;
  });
  for (const use of uses) if (!noted.has(use.id)) await note(fork(), use);
}

function idsOf(uses: readonly CredentialUse[], kind: CredentialUse['kind']): string[] {
  return uses.filter((use) => use.kind === kind).map((use) => use.id);
}

/** Never sets an instant back: several processes may report in any order. */
async function note(em: EntityManager, { kind, id, atMs }: CredentialUse): Promise<void> {
  if (kind === 'api_key') {
    const earlier = { $or: [{ lastUsedAtMs: null }, { lastUsedAtMs: { $lt: atMs } }] };
    await em.nativeUpdate(ApiKey, { id, ...earlier }, { lastUsedAtMs: atMs });
  } else {
    const earlier = { $or: [{ keyLastUsedAtMs: null }, { keyLastUsedAtMs: { $lt: atMs } }] };
    await em.nativeUpdate(Project, { id, ...earlier }, { keyLastUsedAtMs: atMs });
  }
}

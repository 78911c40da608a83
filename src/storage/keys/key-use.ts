/** When keys were last used. */

import type { CredentialUse, ManagementStore } from '../../domain/management.ts';
import type { Managing } from '../management.ts';
import { IDS_AT_ONCE, type Transaction } from '../questions.ts';

/**
 * See ManagementStore.noteUse. Waits for nobody while it holds rows: what others are changing is noted afterwards, one
 * by one.
 */
export function createNoteUse({ questions: { keys }, transact }: Managing): ManagementStore['noteUse'] {
  return async (uses) => {
    for (let start = 0; start < uses.length; start += IDS_AT_ONCE)
      await noteSome(uses.slice(start, start + IDS_AT_ONCE));
  };

  async function noteSome(uses: readonly CredentialUse[]): Promise<void> {
    const noted = await transact(async (tx) => {
      const free = new Set([
        ...(await holdFree(tx, keys.holdFreeKeys, idsOf(uses, 'api_key'))),
        ...(await holdFree(tx, keys.holdFreeProjects, idsOf(uses, 'project_key'))),
      ]);
      for (const use of uses) if (free.has(use.id)) await note(tx, use);
      return free;
    });
    for (const use of uses) if (!noted.has(use.id)) await transact((tx) => note(tx, use));
  }

  async function note(tx: Transaction, { kind, id, atMs }: CredentialUse): Promise<void> {
    await tx.change(kind === 'api_key' ? keys.noteKeyUse : keys.noteProjectKeyUse, { id, atMs });
  }
}

type HoldFree = Managing['questions']['keys']['holdFreeKeys' | 'holdFreeProjects'];

async function holdFree({ ask }: Transaction, question: HoldFree, ids: readonly string[]): Promise<string[]> {
  return ids.length === 0 ? [] : (await ask(question, { ids })).map(({ id }) => id);
}

function idsOf(uses: readonly CredentialUse[], kind: CredentialUse['kind']): string[] {
  return uses.filter((use) => use.kind === kind).map((use) => use.id);
}

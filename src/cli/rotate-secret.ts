/** Replaces the root secret of the database. */

import { createNextSecret, promoteNextSecret } from '../config/secret-file.ts';
import { rotateSecret as rotate } from '../domain/organization/secret-rotation.ts';
import { withDatabase } from './database.ts';
import type { CommandIo } from './io.ts';

/** Resolves with what to print. Rejects with one line for the operator. */
export function rotateSecret(io: CommandIo): Promise<string> {
  return withDatabase(io, async ({ store, secrets, secretFolder, random }) => {
    const { current, previous } = secretFolder === null ? secrets : createNextSecret(secretFolder, random);
    if (previous === null) {
      throw new Error(
        'set SPANDREL_SECRET to the new secret, and SPANDREL_SECRET_PREVIOUS to the one used until now, for every server and here',
      );
    }
    const { installation, sealed } = store;
    const { resealed, unreadable } = await rotate({ installation, sealed, random }, { current, previous });
    if (secretFolder !== null) promoteNextSecret(secretFolder);
    const lost = unreadable.map((value) => `left as it is, because neither secret opens it: ${value}\n`);
    const next =
      secretFolder === null
        ? 'unset SPANDREL_SECRET_PREVIOUS and restart every server; keep it with the backups made until now'
        : 'backups made until now belong to the previous secret, which is gone: make a new one';
    return `${lost.join('')}${resealed} stored values are sealed with the new secret; ${next}\n`;
  });
}

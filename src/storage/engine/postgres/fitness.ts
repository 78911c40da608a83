/** Refuses databases that cannot be trusted with data, in one line for the operator. */

import type pg from 'pg';
import { codeOf, messageOf, StartError } from '../../errors.ts';

/** Exists from the first batch of a copy to its end. */
export const COPY_PROGRESS_TABLE = 'copy_progress';
const VERSION_MIN = 150_000;

/** The reason and, where known, a hint. Contains no part of the address: there may be a password in it. */
export function reasonOf(error: unknown): string {
  const hint = HINTS.get(codeOf(error));
  const reason = messageOf(error);
  return hint === undefined ? reason : `${reason} (${hint})`;
}

const ENCODE = 'in the address, special characters of a user or password are written as %XX';
const UNREACHABLE = 'check host and port, and the firewall';
const HINTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there; is the database running, and are host and port right?'],
  ['ENOTFOUND', `there is no such host; ${ENCODE}`],
  ['ETIMEDOUT', UNREACHABLE],
  ['EHOSTUNREACH', UNREACHABLE],
  ['ENETUNREACH', UNREACHABLE],
  ['ERR_INVALID_URL', ENCODE],
  ['28000', 'let pg_hba.conf accept this user from this host, with or without TLS as sslmode says'],
  ['28P01', `user or password are wrong; ${ENCODE}`],
  ['3D000', 'create the database first'],
  ['42501', 'the user needs CREATE on the schema'],
  ['53300', 'raise max_connections or the limit of the user, or lower SPANDREL_DATABASE_CONNECTIONS'],
  ['42P07', 'the schema holds tables of another program; use a database of its own'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'name the certificate of the authority with sslrootcert'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'name the certificate of the database with sslrootcert'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'name the certificate of the authority with sslrootcert'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'name the certificate of the authority with sslrootcert'],
  ['CERT_HAS_EXPIRED', 'renew the certificate of the database'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'use a host that the certificate names, or sslmode=verify-ca'],
]);

/** Throws StartError for a version or an encoding that cannot serve. */
export async function refuseUnfit(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding`,
  );
  const { version = 0, encoding = '' } = rows[0] ?? {};
  if (version < VERSION_MIN)
    throw new StartError(`the database is older than PostgreSQL ${VERSION_MIN / 10_000}; upgrade it`);
  // Other encodings would refuse some characters, and only once they are sent.
  if (encoding !== 'UTF8') {
    throw new StartError(`the database keeps text as ${encoding}; use one that was created with ENCODING 'UTF8'`);
  }
}

/** Throws StartError for a database with an unfinished copy. */
export async function refuseHalfCopied(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ begun: boolean }>(
    `SELECT to_regclass('${COPY_PROGRESS_TABLE}') IS NOT NULL AS begun`,
  );
  if (rows[0]?.begun !== true) return;
  throw new StartError('a copy into this database was begun and not ended; run the same spandrel copy again');
}

/** Throws StartError for a database that may lose acknowledged writes. */
export async function refuseUnsafeCommits(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ fsync: string; synchronousCommit: string }>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS "synchronousCommit"`,
  );
  const [row] = rows;
  const wrong = row?.fsync === 'off' ? 'fsync' : row?.synchronousCommit === 'off' ? 'synchronous_commit' : null;
  if (wrong === null) return;
  throw new StartError(
    `the database runs with ${wrong}=off and may lose what it has acknowledged; turn it on, or set SPANDREL_DATABASE_UNSAFE=on to accept that`,
  );
}

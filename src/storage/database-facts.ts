/** What a database tells about itself, for `spandrel doctor`. Reading it changes nothing. */

export type DatabaseFacts = {
  /** The program and its version. */
  readonly about: string;
  /** Names of migrations that the next start applies. */
  readonly pending: readonly string[];
  /** The clock of the database; null where it has none of its own. */
  readonly clockMs: number | null;
  /** How many connections it grants to this user; null: there is no limit. */
  readonly connectionsMax: number | null;
  /** Null before the first start, and while migrations are pending. */
  readonly installed: Installed | null;
};

export type Installed = {
  /** Proves the root secret. */
  readonly verifier: Buffer;
  /** The newest instant that is certain; null: none is stored yet. */
  readonly trustedAtMs: number | null;
  /** Enabled model providers, at most as many as are asked. */
  readonly providers: readonly StoredProvider[];
};

export type StoredProvider = { readonly name: string; readonly baseUrl: string };

export type InstallationRow = { readonly verifier: Buffer; readonly trustedAt: number | string | null };

export const READ_INSTALLATION = 'SELECT verifier, trusted_at AS "trustedAt" FROM installation';

export const READ_PROVIDERS =
  'SELECT name, base_url AS "baseUrl" FROM model_providers WHERE enabled ORDER BY name, id LIMIT 20';

/** Drivers return 64-bit integers as text. */
export function toInstalled(row: InstallationRow | undefined, providers: readonly StoredProvider[]): Installed | null {
  if (row === undefined) return null;
  return {
    verifier: row.verifier,
    trustedAtMs: row.trustedAt === null ? null : Number(row.trustedAt),
    providers,
  };
}

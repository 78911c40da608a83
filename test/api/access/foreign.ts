/** Adds a second organization to the same database, without the API. */

import { randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { newId } from '../../../src/domain/ids.ts';
import { hashSecret, mintApiKey, mintProjectKey } from '../../../src/domain/secrets.ts';
import { databaseFile } from '../../../src/storage/open.ts';
import type { TestApp } from '../../support/app.ts';
import { query } from '../../support/postgres-databases.ts';

export type Foreign = {
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly bindingId: string;
  /** A personal key of its administrator. */
  readonly keyId: string;
  readonly token: string;
};

export async function addForeign(app: TestApp): Promise<Foreign> {
  const minted = mintApiKey('sk-lw-', randomBytes);
  const foreign = {
    organizationId: newId('organization', randomBytes),
    teamId: newId('team', randomBytes),
    projectId: newId('project', randomBytes),
    userId: newId('user', randomBytes),
    bindingId: newId('rolebinding', randomBytes),
    keyId: minted.keyId,
    token: minted.token,
  };
  await execute(
    app.database.url,
    `INSERT INTO organizations (id, name, slug, created_at, updated_at)
     VALUES ('${foreign.organizationId}', 'Foreign', 'foreign', 0, 0)`,
  );
  const stored = await app.store.management.commit(contentsOf(app, foreign, minted.secret));
  if (stored !== 'stored') throw new Error(`the second organization is ${stored}`);
  return foreign;
}

function contentsOf({ rootKeys: { pepper } }: TestApp, foreign: Foreign, secret: string) {
  const { organizationId, teamId, projectId, userId, bindingId, keyId } = foreign;
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  const named = { organizationId, name: 'Foreign', slug: 'foreign', ...times };
  const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] } as const;
  const key = mintProjectKey('sk-lw-', randomBytes).token;
  return {
    organizationId,
    expectedVersion: 0,
    teams: [{ ...named, id: teamId }],
    projects: [
      {
        ...named,
        id: projectId,
        teamId,
        language: 'other',
        framework: 'other',
        keyHash: hashSecret(pepper, key),
        keyHint: key.slice(-4),
        keyImported: false,
        previousKeyHash: null,
        previousKeyUntilMs: null,
        previousKeyImported: null,
        keyLastUsedAtMs: null,
        archivedAtMs: null,
      },
    ],
    members: [{ organizationId, userId, email: 'foreign@localhost', name: 'Foreign', disabledAtMs: null, ...times }],
    roleBindings: [{ ...grant, organizationId, userId, id: bindingId, createdAtMs: 0 }],
    apiKeys: [
      {
        organizationId,
        id: keyId,
        keyType: 'personal',
        name: 'Foreign',
        description: null,
        userId,
        createdByUserId: null,
        permissionMode: 'all',
        secretHash: hashSecret(pepper, secret),
        imported: false,
        previousSecretHash: null,
        previousSecretUntilMs: null,
        expiresAtMs: null,
        revokedAtMs: null,
        lastUsedAtMs: null,
        ...times,
        bindings: [{ ...grant, id: newId('rolebinding', randomBytes) }],
      },
    ],
    audit: [],
  } as const;
}

/** Runs SQL on the database without the running server's knowledge. */
async function execute(url: string, sql: string): Promise<void> {
  const file = databaseFile(url);
  if (file === null) {
    await query(url, sql);
    return;
  }
  const db = new Database(file);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

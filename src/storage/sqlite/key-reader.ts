/** What authentication reads on every request: few point reads, prepared once. */

import type { ApiKey, Project } from '../../domain/caller.ts';
import type { Binding } from '../../domain/permissions.ts';
import type { KeyReader, ProjectByKey } from '../key-cache.ts';
import { preparePermissionLists } from '../rows/permission-lists.ts';
import type { Database } from './connection.ts';
import type { ReadLane } from './read-lane.ts';

export function prepareKeyReader(db: Database, lane: ReadLane): KeyReader {
  const statements = prepareStatements(db);
  const readPermissions = preparePermissionLists();

  function findApiKey(keyId: string): ApiKey | null {
    const row = statements.apiKey.get(keyId);
    if (row === undefined) return null;
    const { organizationId, organizationNumber, ownerActive, ...rest } = row;
    const ownerBindings =
      row.userId === null ? [] : statements.ownerBindings.all({ organizationId, userId: row.userId }).map(toBinding);
    return {
      ...rest,
      organization: { id: organizationId, number: organizationNumber },
      ownerActive: ownerActive === 1,
      bindings: statements.keyBindings.all({ organizationId, keyId }).map(toBinding),
      ownerBindings,
    };
  }

  function findProjectByKey(keyHash: Buffer): ProjectByKey | null {
    const current = statements.projectByKey.get(keyHash);
    if (current !== undefined) return { project: toProject(current), untilMs: null };
    const previous = statements.projectByPreviousKey.get(keyHash);
    if (previous === undefined) return null;
    const { untilMs, ...project } = previous;
    return { project: toProject(project), untilMs };
  }

  function toBinding({ permissionsJson, ...binding }: BindingRow): Binding {
    return { ...binding, permissions: readPermissions(permissionsJson) };
  }

  return {
    findApiKey: (keyId) => lane(() => findApiKey(keyId)),
    listKeyIds: () => lane(() => statements.keyIds.all()),
    findProjectByKey: (keyHash) => lane(() => findProjectByKey(keyHash)),
    findProject: (projectId) =>
      lane(() => {
        const row = statements.project.get(projectId);
        return row === undefined ? null : toProject(row);
      }),
    hasImportedCredentials: () => lane(() => statements.imported.get() === 1),
  };
}

function toProject(row: ProjectRow): Project {
  return { ...row, emitRequestEvents: row.emitRequestEvents === 1 };
}

type ProjectRow = Omit<Project, 'emitRequestEvents'> & { readonly emitRequestEvents: number };

type BindingRow = Omit<Binding, 'permissions'> & { readonly permissionsJson: string };

type ApiKeyRow = Omit<ApiKey, 'organization' | 'ownerActive' | 'bindings' | 'ownerBindings'> & {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly ownerActive: number;
};

const PROJECT_COLUMNS = `
    projects.id,
    projects.number,
    projects.slug,
    projects.organization_id AS organizationId,
    organizations.number AS organizationNumber,
    projects.team_id AS teamId,
    projects.emit_request_events AS emitRequestEvents,
    projects.trace_retention_days AS traceRetentionDays,
    projects.archived_at AS archivedAtMs`;
const PROJECT_TABLES = `projects JOIN organizations ON organizations.id = projects.organization_id
  WHERE projects.archived_at IS NULL`;
const PROJECT_SELECT = `SELECT ${PROJECT_COLUMNS} FROM ${PROJECT_TABLES}`;

// A grant on something that is gone, or is another organization's, grants nothing.
const BINDING_SELECT = `SELECT role, scope_type AS scopeType, scope_id AS scopeId, permissions AS permissionsJson`;
const SCOPE_EXISTS = `CASE scope_type
    WHEN 'ORGANIZATION' THEN scope_id = :organizationId
    WHEN 'TEAM' THEN EXISTS (SELECT 1 FROM teams WHERE organization_id = :organizationId AND id = scope_id)
    WHEN 'PROJECT' THEN EXISTS (SELECT 1 FROM projects
      WHERE id = scope_id AND organization_id = :organizationId AND archived_at IS NULL)
  END`;

function prepareStatements(db: Database) {
  return {
    apiKey: db.prepare<[string], ApiKeyRow>(
      `SELECT
         api_keys.id,
         key_type AS keyType,
         api_keys.organization_id AS organizationId,
         organizations.number AS organizationNumber,
         api_keys.user_id AS userId,
         secret_hash AS secretHash,
         previous_secret_hash AS previousSecretHash,
         previous_secret_until AS previousSecretUntilMs,
         expires_at AS expiresAtMs,
         revoked_at AS revokedAtMs,
         key_type = 'service' OR (members.user_id IS NOT NULL AND members.disabled_at IS NULL) AS ownerActive
       FROM api_keys
       JOIN organizations ON organizations.id = api_keys.organization_id
       LEFT JOIN members
         ON members.organization_id = api_keys.organization_id AND members.user_id = api_keys.user_id
       WHERE api_keys.id = ?`,
    ),
    keyIds: db.prepare<[], string>('SELECT id FROM api_keys').pluck(),
    keyBindings: db.prepare<{ organizationId: string; keyId: string }, BindingRow>(
      `${BINDING_SELECT} FROM api_key_bindings WHERE api_key_id = :keyId AND ${SCOPE_EXISTS} ORDER BY position`,
    ),
    ownerBindings: db.prepare<{ organizationId: string; userId: string }, BindingRow>(
      `${BINDING_SELECT} FROM role_bindings WHERE organization_id = :organizationId AND user_id = :userId AND ${SCOPE_EXISTS}`,
    ),
    projectByKey: db.prepare<[Buffer], ProjectRow>(`${PROJECT_SELECT} AND projects.key_hash = ?`),
    // Where several had it, the last to end counts.
    projectByPreviousKey: db.prepare<[Buffer], ProjectRow & { readonly untilMs: number }>(
      `SELECT ${PROJECT_COLUMNS}, projects.previous_key_until AS untilMs
       FROM ${PROJECT_TABLES} AND projects.previous_key_hash = ? AND projects.previous_key_until IS NOT NULL
       ORDER BY projects.previous_key_until DESC LIMIT 1`,
    ),
    project: db.prepare<[string], ProjectRow>(`${PROJECT_SELECT} AND projects.id = ?`),
    imported: db
      .prepare<[], number>(
        `SELECT EXISTS (SELECT 1 FROM projects WHERE key_imported = true OR previous_key_imported = true)
           OR EXISTS (SELECT 1 FROM api_keys WHERE imported = true)`,
      )
      .pluck(),
  };
}

/** What authentication reads: one statement for each question, and for all who ask it at the same time. */

import type { ApiKey, Project } from '../../domain/caller.ts';
import type { Binding } from '../../domain/permissions.ts';
import type { KeyReader, ProjectByKey } from '../key-cache.ts';
import { preparePermissionLists } from '../rows/permission-lists.ts';
import type { Lane, Statement } from './connection.ts';
import { createFreshLookup, createFreshness } from './freshness.ts';

// PostgreSQL refuses it in text, so nothing that is stored has it.
const NUL = '\u0000';

export function createKeyReader(lane: Lane): KeyReader {
  const readPermissions = preparePermissionLists();

  const findApiKey = createFreshLookup(async (ids) => {
    const rows = await lane.ask<ApiKeyRow>(API_KEYS, [ids]);
    return new Map(rows.map((row) => [row.id, toApiKey(row)]));
  });

  const findProject = createFreshLookup(async (ids) => {
    const rows = await lane.ask<Project>(PROJECTS, [ids]);
    return new Map(rows.map((project) => [project.id, project]));
  });

  const findProjectByKey = createFreshLookup(async (hashes) => {
    const keyHashes = hashes.map((hash) => Buffer.from(hash, 'hex'));
    return byKey(await lane.ask<ProjectByKeyRow>(PROJECTS_BY_KEY, [keyHashes]));
  });

  const hasImportedCredentials = createFreshness(async () => {
    const [row] = await lane.ask<{ imported: boolean }>(IMPORTED, []);
    return row?.imported === true;
  });

  function toApiKey({ organizationId, organizationNumber, bindings, ownerBindings, ...rest }: ApiKeyRow): ApiKey {
    return {
      ...rest,
      organization: { id: organizationId, number: organizationNumber },
      bindings: bindings.map(toBinding),
      ownerBindings: ownerBindings.map(toBinding),
    };
  }

  function toBinding({ permissionsJson, ...binding }: BindingRow): Binding {
    return { ...binding, permissions: readPermissions(permissionsJson) };
  }

  return {
    findApiKey: async (keyId) => (keyId.includes(NUL) ? null : await findApiKey(keyId)),
    // An installation may have more keys than every process should read again after every change.
    listKeyIds: null,
    findProjectByKey: (keyHash) => findProjectByKey(keyHash.toString('hex')),
    findProject: async (projectId) => (projectId.includes(NUL) ? null : await findProject(projectId)),
    hasImportedCredentials,
  };
}

/** A key may be the one of a project and the one before of others, of which the last to end counts. */
function byKey(rows: readonly ProjectByKeyRow[]): ReadonlyMap<string, ProjectByKey> {
  const found = new Map<string, ProjectByKey>();
  for (const { keyHash, untilMs, ...project } of rows) {
    const name = keyHash.toString('hex');
    const known = found.get(name);
    if (known === undefined || endOf(untilMs) > endOf(known.untilMs)) found.set(name, { project, untilMs });
  }
  return found;
}

function endOf(untilMs: number | null): number {
  return untilMs ?? Number.POSITIVE_INFINITY;
}

type BindingRow = Omit<Binding, 'permissions'> & { readonly permissionsJson: string };

type ApiKeyRow = Omit<ApiKey, 'organization' | 'bindings' | 'ownerBindings'> & {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly bindings: readonly BindingRow[];
  readonly ownerBindings: readonly BindingRow[];
};

type ProjectByKeyRow = Project & { readonly keyHash: Buffer; readonly untilMs: number | null };

const PROJECT_COLUMNS = `
  projects.id,
  projects.number,
  projects.slug,
  projects.organization_id AS "organizationId",
  organizations.number AS "organizationNumber",
  projects.team_id AS "teamId",
  projects.emit_request_events AS "emitRequestEvents",
  projects.trace_retention_days AS "traceRetentionDays",
  projects.archived_at AS "archivedAtMs"`;
const PROJECT_TABLES = `projects JOIN organizations ON organizations.id = projects.organization_id
  WHERE projects.archived_at IS NULL`;

const PROJECTS: Statement = {
  name: 'find-projects',
  text: `SELECT ${PROJECT_COLUMNS} FROM ${PROJECT_TABLES} AND projects.id = ANY ($1)`,
};

const PROJECTS_BY_KEY: Statement = {
  name: 'find-projects-by-key',
  text: `SELECT ${PROJECT_COLUMNS}, key_hash AS "keyHash", NULL::bigint AS "untilMs"
    FROM ${PROJECT_TABLES} AND key_hash = ANY ($1)
    UNION ALL
    SELECT ${PROJECT_COLUMNS}, previous_key_hash, previous_key_until
    FROM ${PROJECT_TABLES} AND previous_key_hash = ANY ($1) AND previous_key_until IS NOT NULL`,
};

// A grant on something that is gone, or is another organization's, grants nothing.
const SCOPE_EXISTS = `CASE scope_type
  WHEN 'ORGANIZATION' THEN scope_id = api_keys.organization_id
  WHEN 'TEAM' THEN EXISTS (SELECT FROM teams WHERE organization_id = api_keys.organization_id AND id = scope_id)
  WHEN 'PROJECT' THEN EXISTS (SELECT FROM projects
    WHERE id = scope_id AND organization_id = api_keys.organization_id AND archived_at IS NULL)
END`;

function bindingsOf(tableWhere: string, order: string): string {
  return `coalesce((
    SELECT json_agg(json_build_object(
      'role', role, 'scopeType', scope_type, 'scopeId', scope_id, 'permissionsJson', permissions) ORDER BY ${order})
    FROM ${tableWhere} AND ${SCOPE_EXISTS}
  ), '[]')`;
}

const API_KEYS: Statement = {
  name: 'find-api-keys',
  text: `SELECT
      api_keys.id,
      key_type AS "keyType",
      api_keys.organization_id AS "organizationId",
      organizations.number AS "organizationNumber",
      api_keys.user_id AS "userId",
      secret_hash AS "secretHash",
      previous_secret_hash AS "previousSecretHash",
      previous_secret_until AS "previousSecretUntilMs",
      expires_at AS "expiresAtMs",
      revoked_at AS "revokedAtMs",
      key_type = 'service' OR (members.user_id IS NOT NULL AND members.disabled_at IS NULL) AS "ownerActive",
      ${bindingsOf('api_key_bindings WHERE api_key_id = api_keys.id', 'position')} AS bindings,
      ${bindingsOf(
        'role_bindings WHERE organization_id = api_keys.organization_id AND user_id = api_keys.user_id',
        'id',
      )} AS "ownerBindings"
    FROM api_keys
    JOIN organizations ON organizations.id = api_keys.organization_id
    LEFT JOIN members
      ON members.organization_id = api_keys.organization_id AND members.user_id = api_keys.user_id
    WHERE api_keys.id = ANY ($1)`,
};

const IMPORTED: Statement = {
  name: 'has-imported-credentials',
  text: `SELECT EXISTS (SELECT FROM projects WHERE key_imported OR previous_key_imported)
    OR EXISTS (SELECT FROM api_keys WHERE imported) AS imported`,
};

/** The account behind a key: its projects and permissions. */

import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { OrganizationService, ProjectService } from '../../../gen/spandrel/v1/organization_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { apiKeyId } from './key.ts';

export type ProjectRef = { readonly id: string; readonly slug: string; readonly name: string };

export type Account = {
  readonly key: string;
  /** Null for a project key. */
  readonly keyId: string | null;
  readonly projects: readonly ProjectRef[];
  /** Null if the key may not read itself: the console then offers everything, and the server decides. */
  readonly permissions: ReadonlySet<string> | null;
};

const PROJECTS_MAX = 1_000;

/** Rejects with the server's error if the key is refused. */
export async function openAccount(key: string, transport: Transport): Promise<Account> {
  const keyId = apiKeyId(key);
  if (keyId === null) return { key, keyId, projects: [await readOwnProject(transport)], permissions: null };
  const [listed, permissions] = await Promise.all([listProjects(transport), readPermissions(transport, keyId)]);
  if (listed.length > 0) return { key, keyId, projects: listed, permissions };
  // A key of one project may not list projects, but the server names its project.
  const only = await readOwnProject(transport).catch(nullWhen(Code.Unauthenticated));
  return { key, keyId, projects: only ? [only] : [], permissions };
}

/** Names what a key opens: the organization where the key may read it, else its project; null when it names neither. */
export async function readHome(key: string, transport: Transport): Promise<string | null> {
  if (apiKeyId(key) === null) return (await readOwnProject(transport)).name;
  const answer = await createClient(OrganizationService, transport)
    .getOrganization({})
    .catch(nullWhen(Code.PermissionDenied));
  return answer?.organization?.name ?? null;
}

async function readOwnProject(transport: Transport): Promise<ProjectRef> {
  const { projectId, projectSlug } = await createClient(TraceService, transport).validateCredential({});
  return { id: projectId, slug: projectSlug, name: projectSlug.replace(/-[^-]*$/, '') };
}

async function listProjects(transport: Transport): Promise<readonly ProjectRef[]> {
  const answer = await createClient(ProjectService, transport)
    .listProjects({ pageSize: PROJECTS_MAX })
    .catch(nullWhen(Code.PermissionDenied));
  const working = answer?.data.filter(({ archivedAt }) => archivedAt === undefined) ?? [];
  return working.map(({ id, slug, name }) => ({ id, slug, name: name ?? slug }));
}

async function readPermissions(transport: Transport, id: string): Promise<ReadonlySet<string> | null> {
  const answer = await createClient(ApiKeyService, transport)
    .getApiKey({ id })
    .catch(nullWhen(Code.PermissionDenied, Code.NotFound));
  return answer?.apiKey ? new Set(answer.apiKey.effectivePermissions) : null;
}

function nullWhen(...codes: readonly Code[]): (error: unknown) => null {
  return (error) => {
    if (codes.includes(ConnectError.from(error).code)) return null;
    throw error;
  };
}

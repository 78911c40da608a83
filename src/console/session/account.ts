/** Who the key stands for: the projects it reaches, and what it may do. */

import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { ProjectService } from '../../../gen/spandrel/v1/organization_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { apiKeyId } from './key.ts';

export type Place = { readonly id: string; readonly slug: string; readonly name: string };

export type Account = {
  readonly key: string;
  /** Null for the key of a project. */
  readonly keyId: string | null;
  readonly projects: readonly Place[];
  /** Null where the key may not look at itself: then all is offered, and the server decides. */
  readonly permissions: ReadonlySet<string> | null;
};

const PROJECTS_MAX = 1_000;

/** Fails as the server does when the key is not accepted. */
export async function openAccount(key: string, transport: Transport): Promise<Account> {
  const keyId = apiKeyId(key);
  if (keyId === null) return { key, keyId, projects: [await ownProject(transport)], permissions: null };
  const [listed, permissions] = await Promise.all([listProjects(transport), readPermissions(transport, keyId)]);
  if (listed.length > 0) return { key, keyId, projects: listed, permissions };
  // A key of one project may not list it, and is told which it is.
  const only = await ownProject(transport).catch(nullWhen(Code.Unauthenticated));
  return { key, keyId, projects: only ? [only] : [], permissions };
}

export function may(account: Account, permission: string): boolean {
  return account.permissions === null || account.permissions.has(permission);
}

async function ownProject(transport: Transport): Promise<Place> {
  const { projectId, projectSlug } = await createClient(TraceService, transport).validateCredential({});
  return { id: projectId, slug: projectSlug, name: projectSlug.replace(/-[^-]*$/, '') };
}

async function listProjects(transport: Transport): Promise<readonly Place[]> {
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

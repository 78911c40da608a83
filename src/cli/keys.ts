/** Creates, lists, rotates and revokes API keys of a running server. */

import { createServerClient, readPages, type ServerClient, type ServerResponse } from './client.ts';
import type { CommandIo } from './io.ts';
import type { Expiry, KeyOptions, KeysCommand, TypedGrant } from './keys-arguments.ts';
import { findMember } from './members.ts';
import { alignRows, itemsOf, memberOf, memberText } from './text.ts';

type KeysIo = Pick<CommandIo, 'environment' | 'stderr'>;

/** Resolves with what to print. Rejects with one line for the operator. */
export async function keys(io: KeysIo, command: KeysCommand, nowMs: number): Promise<string> {
  const client = createServerClient(io.environment);
  if (command.action === 'create') warnOfLabel(io, command.options);
  const answers = await sendRequests(client, command, nowMs);
  if (command.json) return answers.map(({ text }) => `${text}\n`).join('');
  if (command.action === 'list') return listing(answers.flatMap(({ body }) => itemsOf(body, 'data')));
  const [answer] = answers;
  if (command.action === 'revoke') return `revoked ${command.id}\n`;
  const key = memberOf(answer?.body, 'apiKey');
  return [
    alignRows([
      ['id', memberText(key, 'id')],
      ['name', memberText(key, 'name')],
      ['grants', grantsText(key)],
      ['expires', memberText(key, 'expiresAt')],
      ['token', memberText(answer?.body, 'token')],
    ]),
    'Keep the token now: it is not shown again.\n',
  ].join('');
}

/** Said before the key is made: afterwards its token may be in use already. */
function warnOfLabel({ stderr }: KeysIo, { isReadonly, grants, projectIds }: KeyOptions): void {
  const onlyLooks = grants.length > 0 && grants.every(({ role }) => role === 'VIEWER') && projectIds.length === 0;
  if (!isReadonly || onlyLooks) return;
  stderr.write('spandrel: --readonly does not restrict the key: without --grant VIEWER@... alone it may write\n');
}

async function sendRequests(
  client: ServerClient,
  command: KeysCommand,
  nowMs: number,
): Promise<readonly ServerResponse[]> {
  switch (command.action) {
    case 'list': {
      const query = new URLSearchParams({ limit: '200', includeRevoked: String(command.includeRevoked) });
      if (command.wholeOrganization) query.set('scope', 'organization');
      return await readPages(client, `/api/api-keys?${query}`);
    }
    case 'create':
      return [await client.call('POST', '/api/api-keys', await bodyOf(client, command.options, nowMs))];
    case 'revoke':
      return [await client.call('DELETE', `/api/api-keys/${command.id}`)];
    case 'rotate':
      return [
        await client.call('POST', `/api/api-keys/${command.id}/rotate`, { overlapSeconds: command.overlapSeconds }),
      ];
  }
}

async function bodyOf(client: ServerClient, options: KeyOptions, nowMs: number): Promise<object> {
  const { name, description, isService, owner, isReadonly, grants, permissions, projectIds, expires } = options;
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(isService ? { keyType: 'service' } : {}),
    ...(owner === null ? {} : { assignedToUserId: await findMember(client, owner) }),
    ...(grants.length === 0 ? {} : { bindings: await resolveScopes(client, grants) }),
    ...(isReadonly ? { permissionMode: 'readonly' } : {}),
    ...(permissions.length === 0 ? {} : { permissionMode: 'restricted', permissions }),
    ...(projectIds.length === 0 ? {} : { projectIds }),
    ...(expires === null ? {} : { expiresAt: instantOf(expires, nowMs) }),
  };
}

async function resolveScopes(client: ServerClient, grants: readonly TypedGrant[]): Promise<readonly object[]> {
  const needsOrganization = grants.some(({ scopeId }) => scopeId === null);
  const organization = needsOrganization ? (await client.call('GET', '/api/organization')).body : null;
  return grants.map((grant) => ({ ...grant, scopeId: grant.scopeId ?? memberText(organization, 'id') }));
}

export function instantOf(expires: Expiry, nowMs: number): string {
  return expires.kind === 'at' ? expires.instant : new Date(nowMs + expires.ms).toISOString();
}

const COLUMNS = ['ID', 'TYPE', 'NAME', 'OWNER', 'GRANTS', 'EXPIRES', 'LAST USED', 'REVOKED'];

function listing(items: readonly unknown[]): string {
  const rows = items.map((key) => [
    ...['id', 'keyType', 'name', 'userId'].map((name) => memberText(key, name)),
    grantsText(key),
    ...['expiresAt', 'lastUsedAt', 'revokedAt'].map((name) => memberText(key, name)),
  ]);
  return alignRows([COLUMNS, ...rows]);
}

function grantsText(key: unknown): string {
  const grants = itemsOf(key, 'bindings').map((binding) => {
    const scopeType = memberText(binding, 'scopeType').toLowerCase();
    const id = scopeType === 'organization' ? '' : `:${memberText(binding, 'scopeId')}`;
    return `${memberText(binding, 'role')}@${scopeType}${id}`;
  });
  const permissions = itemsOf(key, 'permissions');
  return [...grants, ...(permissions.length === 0 ? [] : [`(${permissions.join(' ')})`])].join(' ') || '-';
}

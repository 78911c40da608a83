import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Credential } from '../../gen/spandrel/v1/options_pb.js';
import { createAuthenticate } from '../../src/auth/authenticate.ts';
import type { ApiKey } from '../../src/domain/caller.ts';
import { hashSecret, mintApiKey } from '../../src/domain/secrets.ts';

const PREFIX = 'sk-lw-';
const pepper = Buffer.alloc(32, 1);

it('a project id that nothing can have is unknown without being looked for', async () => {
  const { keyId, secret, token } = mintApiKey(PREFIX, randomBytes);
  const key: ApiKey = {
    id: keyId,
    keyType: 'service',
    organization: { id: 'organization_1', number: 1 },
    userId: null,
    secretHash: hashSecret(pepper, secret),
    previousSecretHash: null,
    previousSecretUntilMs: null,
    expiresAtMs: null,
    revokedAtMs: null,
    ownerActive: true,
    bindings: [],
    ownerBindings: [],
  };
  const lookedFor: string[] = [];
  const authenticate = createAuthenticate({
    keys: {
      findApiKey: async () => key,
      readInVain: async () => {},
      findProjectByKeyHash: async () => null,
      findProject: async (id) => {
        lookedFor.push(id);
        return null;
      },
      hasImportedCredentials: async () => false,
      insertApiKey: async () => {},
    },
    clock: () => 1_000,
    pepper,
    prefixes: [PREFIX],
  });
  const ask = (projectId: string) => {
    const headers = new Map([
      ['authorization', `Bearer ${token}`],
      ['x-project-id', projectId],
    ]);
    return authenticate(Credential.PROJECT, (name) => headers.get(name));
  };
  await expect(ask('project_none')).rejects.toMatchObject({ code: 'unknown_project' });
  await expect(ask('x'.repeat(8_000))).rejects.toMatchObject({ code: 'unknown_project' });
  expect(lookedFor).toEqual(['project_none']);
});

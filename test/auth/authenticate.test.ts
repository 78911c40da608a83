import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { Credential, type Policy, PolicySchema } from '../../gen/spandrel/v1/options_pb.js';
import { createAuthenticate } from '../../src/auth/authenticate.ts';
import type { ApiKey, Project } from '../../src/domain/caller.ts';
import { setUpGateway } from '../../src/domain/gateway/gateway-setup.ts';
import { hashSecret, mintApiKey, mintProjectKey } from '../../src/domain/secrets.ts';

const PREFIX = 'sk-lw-';
const pepper = Buffer.alloc(32, 1);
const FOREIGN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwcm94eSJ9.c2lnbmF0dXJl';

const PROJECT_ROUTE = create(PolicySchema, { credential: Credential.PROJECT });
const ORGANIZATION_ROUTE = create(PolicySchema, { credential: Credential.ORGANIZATION });
const OPENED_ROUTE = create(PolicySchema, { credential: Credential.ORGANIZATION, projectKeys: true });

type Headers = Readonly<Record<string, string>>;

/** One service key, one project with its key, and a log of every read. */
function createFixture({ hasImported = false } = {}) {
  const { keyId, secret, token: apiKey } = mintApiKey(PREFIX, randomBytes);
  const { token: projectKey } = mintProjectKey(PREFIX, randomBytes);
  const key: ApiKey = {
    id: keyId,
    keyType: 'service',
    organization: { id: 'organization_1', number: 1, priceVersion: 0, promptVersion: 0 },
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
  const project: Project = {
    id: 'project_1',
    number: 1,
    slug: 'one',
    organizationId: 'organization_1',
    organizationNumber: 1,
    priceVersion: 0,
    promptVersion: 0,
    teamId: 'team_1',
    emitRequestEvents: true,
    traceRetentionDays: null,
    archivedAtMs: null,
  };
  const reads: string[] = [];
  const note = <T>(name: string, value: T): Promise<T> => {
    reads.push(name);
    return Promise.resolve(value);
  };
  const projectHash = hashSecret(pepper, projectKey);
  const authenticate = createAuthenticate({
    keys: {
      findApiKey: (id) => note('api key', id === keyId ? key : null),
      readDecoy: () => note('in vain', undefined),
      findVirtualKey: () => null,
      findSession: () => null,
      findGatewaySetup: () => setUpGateway([], { version: 0, budgets: [] }),
      findProjectByKeyHash: (hash) => note('project key', hash.equals(projectHash) ? project : null),
      findProject: (id) => note(id, null),
      hasImportedCredentials: () => Promise.resolve(hasImported),
    },
    clock: () => 1_000,
    pepper,
    prefixes: [PREFIX],
    keySessions: true,
    publicOrigin: null,
  });
  const ask = (policy: Policy, headers: Headers) => authenticate(policy, (name) => headers[name]);
  return { ask, reads, keyId, apiKey, projectKey };
}

it('an impossible project id is unknown without a lookup', async () => {
  const { ask, reads, apiKey } = createFixture();
  const inProject = (projectId: string) =>
    ask(PROJECT_ROUTE, { authorization: `Bearer ${apiKey}`, 'x-project-id': projectId });
  await expect(inProject('project_none')).rejects.toMatchObject({ code: 'unknown_project' });
  await expect(inProject('x'.repeat(8_000))).rejects.toMatchObject({ code: 'unknown_project' });
  expect(reads).toEqual(['api key', 'project_none', 'api key']);
});

it('a valid credential is looked up once, even when other or equal ones follow it', async () => {
  const { ask, reads, apiKey, projectKey } = createFixture();
  const headers: readonly Headers[] = [
    { 'x-auth-token': projectKey },
    { 'x-auth-token': projectKey, authorization: `Bearer ${projectKey}` },
    { 'x-auth-token': projectKey, authorization: `Basic ${btoa(`project_2:${projectKey}`)}` },
    { 'x-auth-token': projectKey, authorization: `Bearer ${apiKey}` },
    { authorization: `Bearer ${projectKey}` },
  ];
  for (const each of headers) {
    expect(await ask(PROJECT_ROUTE, each)).toMatchObject({ kind: 'project_key', project: { id: 'project_1' } });
    expect(reads.splice(0), JSON.stringify(Object.keys(each))).toEqual(['project key']);
  }
});

it('a token that is in two headers and wrong is checked once', async () => {
  const { ask, reads } = createFixture();
  const { token } = mintApiKey(PREFIX, randomBytes);
  const twice = { 'x-auth-token': token, authorization: `Bearer ${token}` };
  await expect(ask(ORGANIZATION_ROUTE, twice)).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(reads).toEqual(['api key']);
});

it('an Authorization without Bearer before its token is answered with what is missing, and never repeated', async () => {
  const { ask, apiKey } = createFixture();
  const refusalOf = (headers: Headers) => ask(ORGANIZATION_ROUTE, headers).catch((error: unknown) => error);
  const sent = [apiKey, `Token ${apiKey}`, 'Bearer', 'Basic ?'];
  // One object for all of them: nothing of the header is in it, and a flood of such requests costs little.
  const [refusal, ...others] = new Set(await Promise.all(sent.map((authorization) => refusalOf({ authorization }))));
  expect(others).toEqual([]);
  expect(refusal).toMatchObject({ code: 'missing_credentials' });
  expect(String(refusal)).toContain('needs Bearer before the token');
  for (const headers of [{}, { authorization: ' ' }]) {
    expect(String(await refusalOf(headers))).toContain('No credential was sent');
  }
});

it('a token of another kind costs no read, before or after the credential', async () => {
  const { ask, reads, projectKey } = createFixture();
  await ask(PROJECT_ROUTE, { 'x-auth-token': FOREIGN, authorization: `Bearer ${projectKey}` });
  await ask(PROJECT_ROUTE, { 'x-auth-token': projectKey, authorization: `Bearer ${FOREIGN}` });
  expect(reads).toEqual(['project key', 'project key']);
  const nothing = { 'x-auth-token': FOREIGN, authorization: `Bearer ${FOREIGN}.more` };
  await expect(ask(PROJECT_ROUTE, nothing)).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(reads).toHaveLength(2);
});

it('only an imported token may be of either kind, and then both kinds are looked up', async () => {
  const { ask, reads } = createFixture({ hasImported: true });
  const one = mintApiKey(PREFIX, randomBytes).token;
  const other = mintProjectKey(PREFIX, randomBytes).token;
  const headers = { 'x-auth-token': one, authorization: `Bearer ${other}` };
  await expect(ask(PROJECT_ROUTE, headers)).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(reads).toEqual(['api key', 'project key', 'project key']);
});

it('where project keys are let in beside API keys, the API key counts, and the project key without one', async () => {
  const { ask, apiKey, projectKey, keyId } = createFixture();
  const both = [
    { 'x-auth-token': projectKey, authorization: `Bearer ${apiKey}` },
    { 'x-auth-token': apiKey, authorization: `Bearer ${projectKey}` },
  ];
  for (const headers of both) expect(await ask(OPENED_ROUTE, headers)).toMatchObject({ key: { id: keyId } });
  const alone = [
    { 'x-auth-token': projectKey, authorization: `Bearer ${FOREIGN}` },
    { 'x-auth-token': FOREIGN, authorization: `Bearer ${projectKey}` },
  ];
  for (const headers of alone) expect(await ask(OPENED_ROUTE, headers)).toMatchObject({ kind: 'project_key' });
});

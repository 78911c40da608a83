/** A token sent in place of an id must not appear in the audit log, a log line or an answer. */

import { randomBytes } from 'node:crypto';
import { getOption } from '@bufbuild/protobuf';
import { beforeAll, expect, it } from 'vitest';
import { http } from '../../../gen/google/api/annotations_pb.js';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { mintApiKey, mintProjectKey } from '../../../src/domain/secrets.ts';
import { pathParameters } from '../../../src/rpc/rest-shape.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { inParallel } from '../../support/scenario.ts';
import { type Callable, callRest } from '../../support/surfaces.ts';
import { ask, type Outcome, type Question, routesOf, SURFACES } from './question.ts';
import { nameOf, readRoutedMethods } from './services.ts';

const { createApiKey, getApiKey, listApiKeys, updateApiKey, revokeApiKey, rotateApiKey } = ApiKeyService.method;
const WIDTH = 8;

let methods: readonly Callable[];
beforeAll(async () => {
  methods = (await readRoutedMethods()).filter((method) => parametersOf(method).length > 0);
});

const parametersOf = (method: Callable) => routesOf(method).flatMap(({ template }) => pathParameters(template));
const secretOf = (token: string) => token.slice(-48);
const escapeAll = (text: string) => text.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`);

type Typed = { readonly name: string; readonly token: string; readonly shown: string };

/** Tokens of every kind, with their permitted forms. */
function typedTokens({ adminKey, projectKey }: TestApp): readonly Typed[] {
  const unknown = mintApiKey('sk-lw-', randomBytes);
  const second = mintApiKey('acme-', randomBytes);
  const ownId = adminKey.slice('sk-lw-'.length).split('_')[0] ?? '';
  return [
    { name: 'the calling key', token: adminKey, shown: ownId },
    { name: 'an unknown key', token: unknown.token, shown: unknown.keyId },
    { name: 'a key with the second prefix', token: second.token, shown: second.keyId },
    { name: 'the key of a project', token: projectKey, shown: 'sk-lw-...' },
    {
      name: 'a project key with the second prefix',
      token: mintProjectKey('acme-', randomBytes).token,
      shown: 'acme-...',
    },
  ];
}

/** Requests with a token outside of paths. */
function edits(app: TestApp, token: string): readonly Question[] {
  const grant = { role: 'VIEWER', scopeType: 'PROJECT', scopeId: token };
  const listed = { permissionMode: 'restricted', permissions: [`${'x'.repeat(60)}${token}`] };
  const atOrganization = { role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: app.organizationId };
  return [
    { method: createApiKey, body: { name: 'x', bindings: [grant] } },
    { method: createApiKey, body: { name: 'x', assignedToUserId: token } },
    { method: createApiKey, body: { name: 'x', keyType: 'service', projectIds: [token] } },
    { method: createApiKey, body: { name: 'x', ...listed, bindings: [atOrganization] } },
    { method: listApiKeys, query: { scope: token } },
    { method: RoleBindingService.method.createRoleBinding, body: { userId: token, ...grant } },
    { method: RoleBindingService.method.createRoleBinding, body: { userId: app.userId, ...grant } },
  ];
}

function shownBy({ body }: Outcome): string {
  return JSON.stringify(body);
}

it('a token sent in place of an id appears in no answer, no log line and nothing that is stored', async () => {
  const app = await startApp({ environment: { SPANDREL_KEY_PREFIX: 'sk-lw-,acme-' } });
  // One of each kind; a test below covers more in the audit log.
  const tokens = typedTokens(app).filter(({ name }) => !name.startsWith('an unknown') && !name.startsWith('a project'));
  const texts: string[] = [];
  const questions: readonly Question[] = tokens.flatMap(({ token }) => [
    ...methods.map((method) => ({
      method,
      parameters: Object.fromEntries(parametersOf(method).map((name) => [name, token])),
      ...bodyFor(method),
    })),
    ...edits(app, token),
  ]);
  const callers = [app.adminKey, app.projectKey];
  const questionsOfTokens = questions.flatMap((question, at) =>
    SURFACES.map((surface, index) => ({ question, surface, token: callers[(at + index) % 2] ?? '' })),
  );
  await inParallel(questionsOfTokens, WIDTH, async ({ question, surface, token }) => {
    const headers = { 'x-request-id': callers[0] ?? '', 'x-project-id': app.projectId };
    const wanted = { status: 0, code: null };
    const outcome = await ask(surface, { ...question, headers }, { address: app.address, token, wanted });
    expect(outcome.status, nameOf(question.method)).not.toBe(500);
    texts.push(shownBy(outcome));
  });
  await app.stop();
  await app.store.close();
  const stored = await app.database.contents();
  await app.database.remove();
  expect(app.logged.length).toBeGreaterThan(questionsOfTokens.length / 2);
  const sources = { texts, logged: app.logged, stored };
  for (const { name, token } of tokens) {
    for (const [source, all] of Object.entries(sources)) {
      const hits = all.filter((text) => text.includes(secretOf(token))).map((text) => text.slice(0, 200));
      expect({ name, source, hits }).toEqual({ name, source, hits: [] });
    }
  }
});

it.each(SURFACES)('the audit log tells which key was meant, whose token was typed over %s', async (surface) => {
  const app = await startApp({ environment: { SPANDREL_KEY_PREFIX: 'sk-lw-,acme-' } });
  const tokens = typedTokens(app);
  const actions = [
    [getApiKey, 'apiKey.read'],
    [updateApiKey, 'apiKey.update'],
    [revokeApiKey, 'apiKey.revoke'],
    [rotateApiKey, 'apiKey.rotate'],
  ] as const;
  for (const { name, token } of tokens) {
    for (const [method, action] of actions) {
      const question = { method, parameters: { id: token }, headers: { 'x-request-id': token }, ...bodyFor(method) };
      const wanted = { status: 404, code: 'api_key_not_found' };
      const { code } = await ask(surface, question, { address: app.address, token: app.adminKey, wanted });
      expect({ name, action, code }).toEqual({ name, action, code: wanted.code });
    }
  }
  const entries = await refusalsOf(app);
  const wanted = new Map(
    tokens.flatMap(({ shown }) => actions.map(([, action]) => [`${action} ${shown}`, { requestId: shown }])),
  );
  const found = new Map(entries.map(({ action, targetId, requestId }) => [`${action} ${targetId}`, { requestId }]));
  expect(found).toEqual(wanted);
  await close(app);
});

const bodyFor = (method: Callable) => (getOption(method, http).body === '' ? {} : { body: {} });

/** A server writes refusals asynchronously, and all of them before it has stopped. */
async function refusalsOf({ stop, store, organizationId }: TestApp) {
  await stop();
  const any = { fromMs: null, toMs: null, action: null, actorUserId: null, actorKeyId: null, targetId: null };
  return await store.management.audit(organizationId, { ...any, outcome: 'refused', after: null, limit: 200 });
}

async function close({ store, database }: TestApp): Promise<void> {
  await store.close();
  await database.remove();
}

it('a token is masked in a user agent, behind escapes in a path, and where a cut would leave half of it', async () => {
  const app = await startApp();
  const { keyId, secret, token } = mintApiKey('sk-lw-', randomBytes);
  const userAgent = `probe/1 ${'x'.repeat(190)} ${token} end`;
  const headers = { 'x-auth-token': app.adminKey, 'user-agent': userAgent };
  const filled = `${'y'.repeat(150)}-`;
  for (const typed of [escapeAll(token), encodeURIComponent(escapeAll(token)), filled + token]) {
    expect((await callRest(app.address, { path: `/api/api-keys/${typed}`, headers })).status).toBe(404);
  }
  const entries = await refusalsOf(app);
  expect(JSON.stringify(entries)).not.toContain(secret.slice(0, 8));
  expect(new Set(entries.map(({ targetId }) => targetId))).toEqual(new Set([keyId, filled + keyId]));
  expect(entries[0]?.userAgent).toBe(`probe/1 ${'x'.repeat(190)} ${keyId} end`);
  await close(app);
});

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashSecret, mintApiKey } from '../../../src/domain/secrets.ts';
import { pathParameters } from '../../../src/rpc/rest-shape.ts';
import type { TestApp } from '../../support/app.ts';
import { insertKey } from '../../support/insert-key.ts';
import { inParallel } from '../../support/scenario.ts';
import type { Callable } from '../../support/surfaces.ts';
import { atOrganization, createFixture, type Fixture, freshName } from './access-fixture.ts';
import { ask, type Outcome, routesOf, SURFACES } from './question.ts';
import { nameOf, readRoutedMethods } from './services.ts';

const WIDTH = 8;

/** Credentials by their only fault. */
type Dead = { readonly [what: string]: string };

let fixture: Fixture;
let dead: Dead;
let methods: readonly Callable[];
beforeAll(async () => {
  fixture = await createFixture();
  dead = await makeDead(fixture);
  methods = await readRoutedMethods();
});
afterAll(async () => {
  await fixture.app.close();
});

async function makeDead({ app, act, addKey, scopeIds, tokens, callerIds }: Fixture): Promise<Dead> {
  const working = tokens.SA;
  const another = mintApiKey('sk-lw-', randomBytes);
  const revoked = await addKey({ owner: null, body: {} });
  await act('DELETE', `/api/api-keys/${revoked.id}`);
  const ownedBySomebody = async () => {
    const email = `${freshName('m').replace(' ', '')}@localhost`;
    const { userId } = await act('POST', '/api/organization/members', { email, name: 'Somebody', role: 'MEMBER' });
    const body = { name: 'key', assignedToUserId: userId, bindings: [atOrganization('MEMBER', scopeIds)] };
    return { userId, token: String((await act('POST', '/api/api-keys', body)).token) };
  };
  const disabled = await ownedBySomebody();
  await act('PATCH', `/api/organization/members/${disabled.userId}`, { disabled: true });
  const removed = await ownedBySomebody();
  await act('DELETE', `/api/organization/members/${removed.userId}`);
  const project = await act('POST', '/api/projects', { name: freshName('archived') });
  await act('DELETE', `/api/projects/${project.id}`);
  return {
    malformed: 'sk-lw-neither-one-nor-the-other',
    'wrong checksum': working.slice(0, -1) + (working.endsWith('0') ? '1' : '0'),
    'unknown id': another.token,
    'wrong secret': `sk-lw-${callerIds.SA}_${another.secret}`,
    revoked: revoked.token,
    expired: await addExpired(app),
    'owner disabled': disabled.token,
    'owner removed': removed.token,
    'project archived': project.apiKey,
  };
}

/** The API refuses keys that are already expired, so this one goes directly to the store. */
async function addExpired({ store, organizationId, rootKeys }: TestApp): Promise<string> {
  const { keyId, secret, token } = mintApiKey('sk-lw-', randomBytes);
  await insertKey(store, {
    id: keyId,
    organizationId,
    keyType: 'service',
    name: 'expired',
    userId: null,
    createdByUserId: null,
    permissionMode: 'all',
    secretHash: hashSecret(rootKeys.pepper, secret),
    imported: false,
    expiresAtMs: Date.now() - 1,
    createdAtMs: Date.now() - 1000,
    bindings: [
      {
        id: `rolebinding_${keyId}`,
        role: 'ADMIN',
        scopeType: 'ORGANIZATION',
        scopeId: organizationId,
        permissions: [],
      },
    ],
  });
  return token;
}

/** Requests for every path of every rpc. */
function questions() {
  return methods.flatMap((method) =>
    routesOf(method).flatMap(({ verb, template }, spelling) =>
      SURFACES.map((surface) => ({
        surface,
        spelling,
        name: surface === 'REST' ? `${verb} ${template}` : nameOf(method),
        question: {
          method,
          parameters: Object.fromEntries(pathParameters(template).map((name) => [name, 'anything'])),
          ...(verb === 'POST' || verb === 'PATCH' ? { body: {}, message: {} } : {}),
        },
      })),
    ),
  );
}

async function askAll(token: string | null, code: string): Promise<ReadonlyMap<string, Outcome>> {
  const answers = new Map<string, Outcome>();
  await inParallel(questions(), WIDTH, async ({ surface, spelling, name, question }) => {
    const wanted = { status: 401, code };
    answers.set(name, await ask(surface, question, { address: fixture.app.address, token, wanted, spelling }));
  });
  return answers;
}

function withoutIds({ body }: Outcome): string {
  return JSON.stringify(body).replace(/[0-9a-f]{32}|[0-9a-f]{16}/g, 'id');
}

it('a request without a credential gets missing_credentials from every rpc', async () => {
  const answers = await askAll(null, 'missing_credentials');
  expect(answers.size).toBeGreaterThan(methods.length);
  for (const [name, { status, code }] of answers) {
    expect({ name, status, code }).toEqual({ name, status: 401, code: 'missing_credentials' });
  }
});

it('every kind of invalid credential gets the same answer from every rpc', async () => {
  const bodies = new Map<string, Set<string>>();
  for (const [what, token] of Object.entries(dead)) {
    for (const [name, outcome] of await askAll(token, 'invalid_credentials')) {
      const { status, code } = outcome;
      expect({ what, name, status, code }).toEqual({ what, name, status: 401, code: 'invalid_credentials' });
      bodies.set(name, (bodies.get(name) ?? new Set()).add(withoutIds(outcome)));
    }
  }
  for (const [name, different] of bodies) expect([...different], name).toHaveLength(1);
});

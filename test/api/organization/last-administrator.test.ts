import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey } from '../../support/fixtures.ts';
import { type Answer, type Body, callRest } from '../../support/surfaces.ts';
import { bearer } from './organization-client.ts';

const PATH = '/api/organization/members';
const ROUNDS = 4;

type Rival = { readonly userId: string; readonly token: string };

let app: TestApp;
/** A service key administers without a member. */
let service: string;
beforeAll(async () => {
  app = await startApp();
  const scopeId = app.organizationId;
  service = await addKey(app, { bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId, permissions: [] }] });
});
afterAll(async () => {
  await app.close();
});

function ask(token: string, verb: string, path: string, body?: object): Promise<Answer> {
  return callRest(app.address, { verb, path, headers: bearer(token), ...(body === undefined ? {} : { body }) });
}

let added = 0;
async function addRival(): Promise<Rival> {
  added += 1;
  const member = { email: `rival${added}@example.com`, name: 'Rival', role: 'ADMIN' };
  const { userId } = (await ask(service, 'POST', PATH, member)).body;
  const bindings = [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
  const key = { name: 'key', assignedToUserId: userId, bindings };
  return { userId, token: (await ask(service, 'POST', '/api/api-keys', key)).body.token };
}

async function administrators(): Promise<string[]> {
  const { data } = (await ask(service, 'GET', `${PATH}?limit=200`)).body;
  return data
    .filter(({ role, disabled }: Body) => role === 'ADMIN' && !disabled)
    .map(({ userId }: Body): string => userId);
}

describe('two administrators who take the power from each other at once', () => {
  it.each([
    ['demote', 'PATCH', { role: 'VIEWER' }],
    ['disable', 'PATCH', { disabled: true }],
    ['remove', 'DELETE', undefined],
  ])('cannot %s both', async (_, verb, body) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const rivals = [await addRival(), await addRival()] as const;
      for (const userId of await administrators()) {
        if (rivals.some((rival) => rival.userId === userId)) continue;
        expect((await ask(service, 'PATCH', `${PATH}/${userId}`, { role: 'VIEWER' })).status).toBe(200);
      }
      const [one, other] = rivals;
      const answers = await Promise.all([
        ask(one.token, verb, `${PATH}/${other.userId}`, body),
        ask(other.token, verb, `${PATH}/${one.userId}`, body),
        ask(service, verb, `${PATH}/${one.userId}`, body),
        ask(service, verb, `${PATH}/${other.userId}`, body),
      ]);
      expect(answers.map(({ status }) => status)).toContain(200);
      expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([]);
      expect(await administrators()).toHaveLength(1);
    }
  });
});

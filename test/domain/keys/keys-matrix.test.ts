import { describe, expect, it } from 'vitest';
import type { KeyDraft } from '../../../src/domain/keys/keys.ts';
import type { ApiKeyRecord } from '../../../src/domain/management/management.ts';
import type { IdempotentCall } from '../../../src/domain/management/management-call.ts';
import {
  ADMIN_AT_O,
  createFixture,
  customAt,
  type Fixture,
  MEMBER_AT_O,
  O,
  outcomeOf,
  VIEWER_AT_O,
} from './keys-fixture.ts';

type CallerName = keyof Fixture['callers'];

let fixture: Fixture;
let others: { adm: ApiKeyRecord; mgr: ApiKeyRecord; mem: ApiKeyRecord; vie: ApiKeyRecord; svc: ApiKeyRecord };

function begin(): void {
  fixture = createFixture();
  others = {
    adm: fixture.addKey('user_adm', [ADMIN_AT_O]),
    mgr: fixture.addKey('user_mgr', [customAt('organization:manage')]),
    mem: fixture.addKey('user_mem', [MEMBER_AT_O]),
    vie: fixture.addKey('user_vie', [VIEWER_AT_O]),
    svc: fixture.addKey(null, [ADMIN_AT_O]),
  };
}

const own: { readonly [name in CallerName]?: 'adm' | 'mgr' | 'mem' } = {
  PA: 'adm',
  PN: 'adm',
  PQ: 'adm',
  PM: 'mgr',
  PV: 'mem',
};

type Act = (call: IdempotentCall<unknown>, caller: CallerName) => Promise<unknown>;

const nothing = { keyType: 'personal' as const };
const create =
  (draft: KeyDraft): Act =>
  (call) =>
    fixture.keys.create(call, { name: 'new', ...draft });
const drafts = {
  narrow: {
    ...nothing,
    permissionMode: 'restricted' as const,
    permissions: ['organization:view'],
    bindings: [{ role: 'CUSTOM' as const, scopeType: 'ORGANIZATION' as const, scopeId: O }],
  },
  admin: { ...nothing, bindings: [ADMIN_AT_O] },
};

/** The acts on one key; `target` returns its id. */
const actsOn = (target: (caller: CallerName) => string): Record<'get' | 'patch' | 'delete' | 'rotate', Act> => ({
  get: (call, caller) => fixture.keys.get(call, target(caller)),
  patch: (call, caller) => fixture.keys.update(call, target(caller), { name: 'renamed' }),
  delete: (call, caller) => fixture.keys.revoke(call, target(caller)),
  rotate: (call, caller) => fixture.keys.rotate(call, { id: target(caller), overlapSeconds: 0 }),
});

const ownId = (caller: CallerName) => others[own[caller] ?? 'svc'].id;
const ofOwn = actsOn(ownId);
const ofVie = actsOn(() => others.vie.id);
const ofSvc = actsOn(() => others.svc.id);
const ofNobody = actsOn(() => '0000000000000000');
const ofItself = actsOn((caller) => fixture.callers[caller].id);

async function addOwn(
  caller: CallerName,
  bindings: Parameters<Fixture['addKey']>[1],
  revokedAtMs: number | null = null,
) {
  return fixture.addKey(fixture.callers[caller].userId, bindings, { revokedAtMs });
}

const revokedOwn =
  (act: 'patch' | 'delete' | 'rotate'): Act =>
  async (call, caller) => {
    const { id } = await addOwn(caller, [MEMBER_AT_O], 1);
    return actsOn(() => id)[act](call, caller);
  };

const callers = ['PA', 'PN', 'PQ', 'PM', 'PV', 'SA', 'SM', 'SV'] as const;
const words: { readonly [letter: string]: string } = {
  '200': 'ok',
  '404': 'api_key_not_found',
  '409': 'api_key_already_revoked',
  '422': 'validation_error',
  p: 'insufficient_permissions',
  a: 'administrator_required',
  o: 'api_key_not_owned',
  s: 'api_key_scope_violation',
};

const adminAtO = { bindings: [ADMIN_AT_O], permissionMode: 'all' as const, permissions: [] };
// The rows of the access table; `-`: there is no such case.
const rows: readonly (readonly [what: string, act: Act, cells: string])[] = [
  ['GET own', ofOwn.get, '200 200 200 200 200 - - -'],
  ["GET another's", ofVie.get, '200 200 404 404 404 200 404 404'],
  ['GET svc', ofSvc.get, '200 200 200 200 200 200 200 404'],
  ['GET unknown', ofNobody.get, '404 404 404 404 404 404 404 404'],
  ['POST personal, CUSTOM@O organization:view', create(drafts.narrow), '200 200 p 200 p 422 a p'],
  ['POST personal, ADMIN@O', create(drafts.admin), '200 s p s p 422 a p'],
  [
    'POST personal for vie, VIEWER@O',
    create({ bindings: [VIEWER_AT_O], assignedToUserId: 'user_vie' }),
    '200 a p a p 200 a p',
  ],
  [
    'POST personal for vie, ADMIN@O',
    create({ bindings: [ADMIN_AT_O], assignedToUserId: 'user_vie' }),
    's a p a p s a p',
  ],
  ['POST service, name only', create({ keyType: 'service' }), '200 a p a p 200 a p'],
  ['PATCH own name', ofOwn.patch, '200 200 p 200 p - - -'],
  ['DELETE own', ofOwn.delete, '200 200 p 200 p - - -'],
  [
    'PATCH own to ADMIN@O',
    async (call, caller) => fixture.keys.update(call, (await addOwn(caller, [MEMBER_AT_O])).id, adminAtO),
    '200 s p s p - - -',
  ],
  ["PATCH another's", ofVie.patch, '200 200 p 404 p 200 404 p'],
  ["DELETE another's", ofVie.delete, '200 200 p 404 p 200 404 p'],
  ["rotate another's", ofVie.rotate, 'o o p 404 p o 404 p'],
  ['PATCH svc', ofSvc.patch, '200 200 p 200 p 200 200 p'],
  ['DELETE svc', ofSvc.delete, '200 200 p 200 p 200 200 p'],
  ['rotate svc', ofSvc.rotate, '200 s p s p 200 s p'],
  ['PATCH unknown', ofNobody.patch, '404 404 p 404 p 404 404 p'],
  ['DELETE unknown', ofNobody.delete, '404 404 p 404 p 404 404 p'],
  ['rotate unknown', ofNobody.rotate, '404 404 p 404 p 404 404 p'],
  ['rotate itself', ofItself.rotate, '200 200 p 200 p 200 200 p'],
  [
    'rotate own with MEMBER@O',
    async (call, caller) => {
      const { id } = await addOwn(caller, [MEMBER_AT_O]);
      return actsOn(() => id).rotate(call, caller);
    },
    '200 s p s p - - -',
  ],
  ['PATCH own revoked', revokedOwn('patch'), '409 409 p 409 p 409 - p'],
  ['DELETE own revoked', revokedOwn('delete'), '409 409 p 409 p 409 - p'],
  ['rotate own revoked', revokedOwn('rotate'), '409 409 p 409 p 409 - p'],
];

describe('who may do what with API keys', () => {
  it.each(rows)('%s', async (_, act, cells) => {
    const found: string[] = [];
    const wanted = cells.split(' ');
    expect(wanted).toHaveLength(callers.length);
    for (const [index, caller] of callers.entries()) {
      if (wanted[index] === '-') continue;
      // Rows end keys, so each caller gets a fresh fixture.
      begin();
      const call = await fixture.callWith(fixture.callers[caller].id);
      found.push(`${caller} ${await outcomeOf(act(call, caller))}`);
    }
    const expected = callers.flatMap((caller, index) =>
      wanted[index] === '-' ? [] : [`${caller} ${words[wanted[index] ?? '']}`],
    );
    expect(found).toEqual(expected);
  });

  it.each([
    ['own', 'PA PN PQ PM PV: own svc; SA: all; SM: svc; SV: p'],
    ['organization', 'PA PN SA: all; PM: own svc; PQ PV SV: p; SM: svc'],
  ] as const)('a list of scope %s holds exactly what each caller sees', async (scope, cells) => {
    begin();
    const everything = [...Object.values(fixture.callers), ...Object.values(others)];
    for (const cell of cells.split('; ')) {
      const [names = '', sets = ''] = cell.split(': ');
      for (const name of names.split(' ') as CallerName[]) {
        const call = await fixture.callWith(fixture.callers[name].id);
        const question = { scope, includeRevoked: false, cursor: '', limit: null };
        if (sets === 'p') {
          expect(await outcomeOf(fixture.keys.list(call, question)), name).toBe('insufficient_permissions');
          continue;
        }
        const wanted = everything.filter(({ userId }) => {
          if (sets === 'all') return true;
          return userId === null || (sets === 'own svc' && userId === fixture.callers[name].userId);
        });
        const page = await fixture.keys.list(call, question);
        expect(page.keys.map(({ id }) => id).sort(), name).toEqual(wanted.map(({ id }) => id).sort());
        for (const { id } of page.keys) expect((await fixture.keys.get(call, id)).id).toBe(id);
        expect(page.nextCursor).toBeUndefined();
      }
    }
  });
});

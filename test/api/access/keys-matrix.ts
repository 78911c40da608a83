/** Access to API keys. */

import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import {
  atOrganization,
  type Fixture,
  freshName,
  type KeyWish,
  type MemberName,
  type Minted,
} from './access-fixture.ts';
import { type Cell, type Matrix, makeFor, type Operation } from './matrix.ts';

const { listApiKeys, createApiKey, getApiKey, updateApiKey, revokeApiKey, rotateApiKey } = ApiKeyService.method;

const UNKNOWN = '0000000000000000';

/** The table of the API keys; listings come first, before the other rows add keys. */
const TABLE = `
row                                     | PA          | PN          | PQ          | PM          | PV          | PP   | SA   | SM      | SV   | SP
list                                    | own+service | own+service | own+service | own+service | own+service | 403p | all  | service | 403p | 403p
list of the organization                | all         | all         | 403p        | own+service | 403p        | 403p | all  | service | 403p | 403p
read one's own                          | 200         | 200         | 200         | 200         | 200         | 403p | -    | -       | -    | -
read another's                          | 200         | 200         | 404         | 404         | 404         | 403p | 200  | 404     | 404  | 403p
read a service key                      | 200         | 200         | 200         | 200         | 200         | 403p | 200  | 200     | 404  | 403p
read an unknown one                     | 404         | 404         | 404         | 404         | 404         | 403p | 404  | 404     | 404  | 403p
read one of another organization        | 404         | 404         | 404         | 404         | 404         | 403p | 404  | 404     | 404  | 403p
mint for oneself, a narrow one          | 201         | 201         | 403p        | 201         | 403p        | 403p | 422  | 403a    | 403p | 403p
mint for oneself, ADMIN                 | 201         | 403s        | 403p        | 403s        | 403p        | 403p | 422  | 403a    | 403p | 403p
mint for a viewer, VIEWER               | 201         | 403a        | 403p        | 403a        | 403p        | 403p | 201  | 403a    | 403p | 403p
mint for a viewer, ADMIN                | 403s        | 403a        | 403p        | 403a        | 403p        | 403p | 403s | 403a    | 403p | 403p
mint a service key by name              | 201         | 403a        | 403p        | 403a        | 403p        | 403p | 201  | 403a    | 403p | 403p
mint a service key for no project       | 422         | 422         | 403p        | 422         | 403p        | 403p | 422  | 422     | 403p | 403p
rename one's own                        | 200         | 200         | 403p        | 200         | 403p        | 403p | -    | -       | -    | -
revoke one's own                        | 200         | 200         | 403p        | 200         | 403p        | 403p | -    | -       | -    | -
widen one's own to ADMIN                | 200         | 403s        | 403p        | 403s        | 403p        | 403p | -    | -       | -    | -
rename another's                        | 200         | 200         | 403p        | 404         | 403p        | 403p | 200  | 404     | 403p | 403p
revoke another's                        | 200         | 200         | 403p        | 404         | 403p        | 403p | 200  | 404     | 403p | 403p
rotate another's                        | 403o        | 403o        | 403p        | 404         | 403p        | 403p | 403o | 404     | 403p | 403p
rename a service key                    | 200         | 200         | 403p        | 200         | 403p        | 403p | 200  | 200     | 403p | 403p
revoke a service key                    | 200         | 200         | 403p        | 200         | 403p        | 403p | 200  | 200     | 403p | 403p
rotate a service key with ADMIN         | 200         | 403s        | 403p        | 403s        | 403p        | 403p | 200  | 403s    | 403p | 403p
rename an unknown one                   | 404         | 404         | 403p        | 404         | 403p        | 403p | 404  | 404     | 403p | 403p
revoke an unknown one                   | 404         | 404         | 403p        | 404         | 403p        | 403p | 404  | 404     | 403p | 403p
rotate an unknown one                   | 404         | 404         | 403p        | 404         | 403p        | 403p | 404  | 404     | 403p | 403p
rename one of another organization      | 404         | 404         | 403p        | 404         | 403p        | 403p | 404  | 404     | 403p | 403p
revoke one of another organization      | 404         | 404         | 403p        | 404         | 403p        | 403p | 404  | 404     | 403p | 403p
rotate one of another organization      | 404         | 404         | 403p        | 404         | 403p        | 403p | 404  | 404     | 403p | 403p
rotate the calling key                  | 200         | 200         | 403p        | 200         | 403p        | 403p | 200  | 200     | 403p | 403p
rotate one's own with the member's role | 200         | 403s        | 403p        | 403s        | 403p        | 403p | -    | -       | -    | -
rename a revoked one                    | 409         | 409         | 403p        | 409         | 403p        | 403p | 409  | -       | 403p | 403p
revoke a revoked one                    | 409         | 409         | 403p        | 409         | 403p        | 403p | 409  | -       | 403p | 403p
rotate a revoked one                    | 409         | 409         | 403p        | 409         | 403p        | 403p | 409  | -       | 403p | 403p
`;

/** Returns the id of the operation's key. */
type Find = (cell: Cell) => Promise<string> | string;

const byOwner = ({ owner }: Cell): string => owner ?? 'nobody';
const adding = (wish: (cell: Cell) => KeyWish) =>
  makeFor(async (cell) => (await cell.fixture.addKey(wish(cell))).id, byOwner);
const narrow = ({ scopeIds }: Fixture) => ({ bindings: [atOrganization('VIEWER', scopeIds)] });
const own = adding(({ fixture, owner }) => ({ owner, body: narrow(fixture) }));
const others = adding(({ fixture, owner }) => ({ owner: anotherThan(owner), body: narrow(fixture) }));
const service = adding(() => ({ owner: null, body: {} }));
const unknown = () => UNKNOWN;
const foreign = ({ fixture }: Cell) => fixture.foreign.keyId;
const ownOfRole = adding(({ fixture, owner }) => ({
  owner,
  body: { bindings: [atOrganization(owner === 'vie' ? 'VIEWER' : 'MEMBER', fixture.scopeIds)] },
}));

/** A revoked key of the caller's owner, or a service key. */
const revoked = makeFor(async ({ fixture, owner }) => {
  const { id } = await fixture.addKey({ owner, body: owner === null ? {} : narrow(fixture) });
  await fixture.act('DELETE', `/api/api-keys/${id}`);
  return id;
}, byOwner);

function anotherThan(owner: MemberName | null): MemberName {
  return owner === 'vie' ? 'mem' : 'vie';
}

const read = (find: Find): Operation => ({
  method: getApiKey,
  ask: async (cell) => ({ parameters: { id: await find(cell) } }),
});
const revoke = (find: Find): Operation => ({
  method: revokeApiKey,
  ask: async (cell) => ({ parameters: { id: await find(cell) } }),
});
const rename = (find: Find): Operation => ({
  method: updateApiKey,
  ask: async (cell) => ({ parameters: { id: await find(cell) }, body: { name: freshName('renamed') } }),
});
const rotate = (find: Find): Operation => ({
  method: rotateApiKey,
  ask: async (cell) => ({ parameters: { id: await find(cell) }, body: {} }),
});
const mint = (body: (fixture: Fixture) => { readonly [name: string]: object | string }): Operation => ({
  method: createApiKey,
  ask: ({ fixture }) => ({ body: JSON.parse(JSON.stringify({ name: freshName('minted'), ...body(fixture) })) }),
});

const viewer = ({ members }: Fixture) => ({ assignedToUserId: members.vie });
const having =
  (role: string) =>
  ({ scopeIds }: Fixture) => ({ bindings: [atOrganization(role, scopeIds)] });

export const KEY_MATRIX: Matrix = {
  table: TABLE,
  alike: { PR: 'PV', PD: 'PV' },
  always: { PROJ: '401c' },
  operations: {
    list: { method: listApiKeys, ask: () => ({}) },
    'list of the organization': { method: listApiKeys, ask: () => ({ query: { scope: 'organization' } }) },
    "read one's own": read(({ fixture, owner }) => (owner === null ? UNKNOWN : fixture.targets[owner])),
    "read another's": read(({ fixture, owner }) => fixture.targets[anotherThan(owner)]),
    'read a service key': read(({ fixture }) => fixture.svc),
    'read an unknown one': read(unknown),
    'read one of another organization': read(foreign),
    'mint for oneself, a narrow one': mint((fixture) => ({
      ...having('CUSTOM')(fixture),
      permissionMode: 'restricted',
      permissions: ['organization:view'],
    })),
    'mint for oneself, ADMIN': mint(having('ADMIN')),
    'mint for a viewer, VIEWER': mint((fixture) => ({ ...viewer(fixture), ...having('VIEWER')(fixture) })),
    'mint for a viewer, ADMIN': mint((fixture) => ({ ...viewer(fixture), ...having('ADMIN')(fixture) })),
    'mint a service key by name': mint(() => ({ keyType: 'service' })),
    'mint a service key for no project': mint(() => ({ keyType: 'service', projectIds: [] })),
    "rename one's own": rename(own),
    "revoke one's own": revoke(own),
    "widen one's own to ADMIN": {
      method: updateApiKey,
      ask: async (cell) => ({
        parameters: { id: await own(cell) },
        body: { ...having('ADMIN')(cell.fixture), permissionMode: 'all' },
      }),
    },
    "rename another's": rename(others),
    "revoke another's": revoke(others),
    "rotate another's": rotate(others),
    'rename a service key': rename(service),
    'revoke a service key': revoke(service),
    'rotate a service key with ADMIN': rotate(service),
    'rename an unknown one': rename(unknown),
    'revoke an unknown one': revoke(unknown),
    'rotate an unknown one': rotate(unknown),
    'rename one of another organization': rename(foreign),
    'revoke one of another organization': revoke(foreign),
    'rotate one of another organization': rotate(foreign),
    'rotate the calling key': {
      method: rotateApiKey,
      ask: async (cell) => {
        const { id, token } = await calling(cell);
        return { parameters: { id }, body: {}, token };
      },
    },
    "rotate one's own with the member's role": rotate(ownOfRole),
    'rename a revoked one': rename(revoked),
    'revoke a revoked one': revoke(revoked),
    'rotate a revoked one': rotate(revoked),
  },
};

/** A new caller for cells that change its token. */
async function calling({ fixture, caller, isRefused }: Cell): Promise<Minted> {
  if (caller === 'PROJ') return { id: fixture.callerIds.PA, token: fixture.tokens.PROJ };
  return isRefused ? { id: fixture.callerIds[caller], token: fixture.tokens[caller] } : await fixture.addCaller(caller);
}

/** Access to sessions, which every caller has, and the access of sessions themselves. */

import { randomBytes } from 'node:crypto';
import { getOption } from '@bufbuild/protobuf';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import { SessionService } from '../../../gen/spandrel/v1/sessions_pb.js';
import type { ClaimRules } from '../../../src/domain/sessions/claim-rules.ts';
import { signPersonIn as signIn } from '../../../src/domain/sessions/people.ts';
import type { CallerName, Fixture, KeyCaller } from './access-fixture.ts';
import { type Matrix, ownerOf } from './matrix.ts';
import { SESSION_PREFIX } from './question.ts';

const { createSession, getSession, listSessions, revokeSession, logout } = SessionService.method;

/** Somebody else's is that of the member vie; of vie itself it is the one of the key SM. */
const TABLE = `
row                           | PROJ | PA  | PN  | PQ  | PM  | PV  | PR  | PP  | SA  | SM  | SV  | SP
begin a session               | 201  | 201 | 201 | 201 | 201 | 201 | 201 | 201 | 201 | 201 | 201 | 201
read what one reaches         | 200  | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200
list sessions                 | 200  | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200
end the own session           | 200  | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200
end the session of another    | 404  | 200 | 404 | 404 | 404 | 404 | 404 | 404 | 200 | 404 | 404 | 404
end a session that is unknown | 404  | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404
end a session elsewhere       | 404  | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404
sign out                      | 200  | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200 | 200
`;

const codes = { 404: 'session_not_found' };

export const SESSION_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'begin a session': { method: createSession, ask: () => ({ body: {} }) },
    'read what one reaches': { method: getSession, ask: () => ({}) },
    'list sessions': { method: listSessions, ask: () => ({}) },
    'end the own session': {
      method: revokeSession,
      ask: async ({ fixture, caller }) => ({ parameters: { id: await beginId(fixture, fixture.tokens[caller]) } }),
    },
    'end the session of another': {
      method: revokeSession,
      codes,
      ask: async ({ fixture, caller }) => {
        const { tokens } = fixture;
        return { parameters: { id: await beginId(fixture, caller === 'PR' ? tokens.SM : tokens.PR) } };
      },
    },
    'end a session that is unknown': {
      method: revokeSession,
      codes,
      ask: () => ({ parameters: { id: 'session_000000000000000000000' } }),
    },
    'end a session elsewhere': {
      method: revokeSession,
      codes,
      ask: async ({ fixture }) => ({ parameters: { id: await beginId(fixture, fixture.foreign.token) } }),
    },
    'sign out': { method: logout, ask: () => ({ body: {} }) },
  },
};

type Begun = { readonly id: string; readonly cookie: string };

/** `cookie` can stand in place of a token. */
export async function begin({ app }: Pick<Fixture, 'app'>, token: string): Promise<Begun> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${app.address}/api/auth/session`, { method: 'POST', headers });
  if (answer.status !== 201) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  const { id } = (await answer.json()) as { id: string };
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1);
  if (!cookie.startsWith(SESSION_PREFIX)) throw new Error('the answer set no cookie');
  return { id, cookie };
}

async function beginId(fixture: Fixture, token: string): Promise<string> {
  return (await begin(fixture, token)).id;
}

/** The same callers with a session of each key in place of the key. */
export async function withSessions(fixture: Fixture): Promise<Fixture> {
  const names = Object.keys(fixture.tokens) as CallerName[];
  const cookies = await Promise.all(
    names.map(async (name) => [name, (await begin(fixture, fixture.tokens[name])).cookie]),
  );
  return { ...fixture, tokens: Object.fromEntries(cookies) };
}

/** Without the rows of rpcs that take no session. */
export function forSessions(matrix: Matrix): Matrix {
  const takes = Object.entries(matrix.operations).filter(([, { method }]) => !getOption(method, policy).headerOnly);
  const rows = new Set(takes.map(([row]) => row));
  const [head = '', ...lines] = matrix.table.trim().split('\n');
  const kept = lines.filter((line) => rows.has(line.split('|', 1)[0]?.trim() ?? ''));
  return { ...matrix, operations: Object.fromEntries(takes), table: [head, ...kept].join('\n') };
}

/** Whose keys have all the role bindings of their owners. */
const PEOPLE: readonly KeyCaller[] = ['PA', 'PV', 'PR', 'PD'];

/** The same callers with a session of their owners, who signed in without a key. */
export async function withPeople(fixture: Fixture): Promise<Fixture> {
  const cookies = await Promise.all(PEOPLE.map(async (name) => [name, await signPersonIn(fixture, name)]));
  return { ...fixture, tokens: { ...fixture.tokens, ...Object.fromEntries(cookies) } };
}

async function signPersonIn({ app, members }: Fixture, caller: KeyCaller): Promise<string> {
  const { management: store } = app.store;
  const userId = members[ownerOf(caller) ?? 'adm'];
  const member = await store.member(app.organizationId, userId);
  if (member === null) throw new Error(`${caller} has no owner`);
  const rules: ClaimRules = {
    allowedDomains: [],
    trustsEmail: false,
    roleClaim: null,
    roleMap: new Map(),
    defaultRole: 'EXTERNAL',
  };
  const deps = {
    store,
    random: randomBytes,
    pepper: app.rootKeys.pepper,
    retentionNowMs: Date.now,
    rules,
    limits: LIMITS,
  } as const;
  const visit = { ip: null, userAgent: null, requestId: null, traceId: null, nowMs: Date.now() };
  const person = { issuer: 'https://issuer.example', subject: userId, name: null, groups: [] };
  const claims = { ...person, email: member.email, isEmailVerified: true };
  return SESSION_PREFIX + (await signIn(deps, visit, claims)).secret;
}

const LIMITS = { team: 10, project: 10, member: 10, role_binding: 10 };

/** The columns of the people alone, without the rows of rpcs that take no session. */
export function forPeople(matrix: Matrix): Matrix {
  const { alike, always: _, ...rest } = forSessions(matrix);
  const rows = rest.table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const isKept = rows[0]?.map((name, column) => column === 0 || PEOPLE.some((caller) => caller === name));
  const table = rows.map((cells) => cells.filter((_, column) => isKept?.[column]).join(' | ')).join('\n');
  const kept = Object.entries(alike).filter(([copy]) => PEOPLE.some((caller) => caller === copy));
  return { ...rest, table, alike: Object.fromEntries(kept) };
}

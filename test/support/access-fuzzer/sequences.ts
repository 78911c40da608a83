/** Sequences of requests that independent draws would seldom produce. */

import { works } from '../access-model/key-view.ts';
import {
  common,
  holdersOf,
  holdsAdmin,
  mayDo,
  organizationScope,
  projectScope,
  teamScope,
} from '../access-model/power.ts';
import { type Key, liveProjects, type Organization, type State } from '../access-model/state.ts';
import type { Ask } from '../access-model/verdict.ts';
import type { Chance } from './chance.ts';
import { drawOnce } from './draw.ts';
import { type Drawing, drawPermissions } from './scopes.ts';

/** `ask` is null when only time passes. */
export type Link = { readonly ask: Ask | null; readonly tickMs?: number };

type Deck = {
  readonly chance: Chance;
  readonly state: State;
  readonly organization: Organization;
  readonly turn: number;
};

/** Null: draw one request instead. */
export function drawSequence(chance: Chance, state: State, turn: number): readonly Link[] | null {
  const wish = chance.weigh({
    none: 74,
    repeat: 4,
    narrow: 8,
    expire: 4,
    wait: 1,
    abdicate: 0.6,
    move: 3,
    outside: 2,
    renew: 3,
    leave: 1.5,
    administer: 1.5,
    mistake: 2,
  });
  const deck = { chance, state, turn, organization: chance.pick(state.organizations) };
  switch (wish) {
    case 'repeat':
      return repeat(deck, false);
    case 'narrow':
      return repeat(deck, true);
    case 'expire':
      return expire(deck);
    case 'abdicate':
      return abdicate(deck);
    case 'leave':
      return leave(deck);
    case 'administer':
      return administer(deck);
    case 'renew':
      return renew(deck);
    case 'mistake':
      return mistake(deck);
    case 'move':
      return move(deck);
    case 'outside':
      return enter(deck);
    case 'wait':
      return [{ ask: null, tickMs: chance.pick([30_000, 3_600_000, 6 * 3_600_000]) }];
    default:
      return null;
  }
}

function living({ state, organization }: Deck): readonly Key[] {
  return [...organization.keys.values()].filter((key) => works(organization, key, state.nowMs));
}

function chooseAdministrator(deck: Deck): Key | null {
  const able = living(deck).filter(
    (key) =>
      holdsAdmin(key.grants, deck.organization) &&
      (key.userId === null || deck.organization.members.get(key.userId)?.role === 'ADMIN'),
  );
  return able.length === 0 ? null : deck.chance.pick(able);
}

/** Sends a request twice under one idempotency key; the caller may lose permissions in between. */
function repeat(deck: Deck, narrows: boolean): readonly Link[] | null {
  const { chance, turn, state, organization } = deck;
  const caller = chooseCaller(deck);
  const admin = chooseAdministrator(deck);
  if (caller === null || admin === null || caller.id === admin.id) return null;
  const drawing = { chance, state, organization, key: caller, turn };
  // A body without grants copies fewer when the caller has fewer, but the replayed token keeps the first ones.
  const copy = { rpc: 'CreateApiKey', body: { name: `copy ${turn}` }, once: `once-${turn}-of-a-copy` };
  const ask = { ...(chance.happens(0.3) ? copy : drawOnce(drawing)), token: caller.secret.current };
  const differs = ask.body?.name !== undefined && chance.happens(0.15);
  const again = differs ? { ...ask, body: { ...ask.body, name: 'another name' } } : ask;
  const takes = { ...drawLoss(drawing, caller), token: admin.secret.current };
  return narrows ? [{ ask }, { ask: takes }, { ask: again }] : [{ ask }, { ask: again }];
}

/** Picks a key with organization:manage. */
function chooseCaller(deck: Deck): Key | null {
  const able = living(deck).filter((key) =>
    mayDo(deck.organization, key, ['organization:manage', organizationScope(deck.organization)]),
  );
  return able.length === 0 ? null : deck.chance.pick(able);
}

/** Draws a request that may reduce the permissions of a key or of its owner. */
function drawLoss(drawing: Drawing, { id, userId }: Key): Omit<Ask, 'token'> {
  const { chance, organization } = drawing;
  if (userId !== null && chance.happens(0.4)) {
    return { rpc: 'UpdateMember', id: userId, body: { role: chance.pick(['MEMBER', 'VIEWER', 'EXTERNAL']) } };
  }
  const bindings = [{ role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: organization.id }];
  const permissions = [
    'organization:manage',
    ...drawPermissions(drawing, { scopeType: 'ORGANIZATION', scopeId: organization.id }),
  ];
  return { rpc: 'UpdateApiKey', id, body: { bindings, permissionMode: 'restricted', permissions } };
}

/** Uses a key just before it expires, at expiry, and after a request to extend it. */
function expire(deck: Deck): readonly Link[] | null {
  const { chance, state } = deck;
  const ending = living(deck).filter(({ expiresAtMs }) => expiresAtMs !== null);
  const caller = chooseCaller(deck);
  if (ending.length === 0 || caller === null) return null;
  const { id, expiresAtMs, secret } = chance.pick(ending);
  const ask = { rpc: 'ListProjects', token: secret.current };
  const later = new Date((expiresAtMs ?? 0) + LATER_MS).toISOString();
  return [
    // Every step takes a millisecond.
    { ask, tickMs: (expiresAtMs ?? 0) - state.nowMs - 1 },
    { ask },
    { ask: { rpc: 'UpdateApiKey', token: caller.secret.current, id, body: { expiresAt: later } } },
    { ask: { ...ask, rpc: 'GetOrganization' } },
  ];
}

const LATER_MS = 60_000;

/** Disables the others, then tries to remove the last one. */
function abdicate(deck: Deck): readonly Link[] | null {
  const { chance, organization } = deck;
  const admin = chooseAdministrator(deck);
  if (admin?.userId == null) return null;
  const token = admin.secret.current;
  const others = [...organization.members.values()].filter(
    ({ role, userId }) => role === 'ADMIN' && userId !== admin.userId,
  );
  const own = { token, id: admin.userId };
  const ways = [
    { ...own, rpc: 'UpdateMember', body: { role: 'MEMBER' } },
    { ...own, rpc: 'UpdateMember', body: { disabled: true } },
    { ...own, rpc: 'RemoveMember' },
  ];
  return [
    ...others.map(({ userId }) => ({ ask: { rpc: 'UpdateMember', token, id: userId, body: { disabled: true } } })),
    ...chance.pickSome(ways, 2).map((ask) => ({ ask })),
  ];
}

/** Moves a project with a permitted key; gains in the new team may forbid it. */
function move(deck: Deck): readonly Link[] | null {
  const { chance, organization } = deck;
  const ways = living(deck).flatMap((key) =>
    liveProjects(organization).flatMap((project) => {
      const scope = projectScope(organization, project);
      if (!mayDo(organization, key, ['project:update', scope])) return [];
      const teams = [...organization.teams.keys()].filter(
        (id) => id !== project.teamId && mayDo(organization, key, ['project:create', teamScope(organization, id)]),
      );
      return teams.map((teamId) => ({ token: key.secret.current, id: project.id, body: { teamId }, key }));
    }),
  );
  // Keys with grants at teams are preferred: they may gain permissions by the move.
  const bound = ways.filter(({ key }) =>
    holdersOf(organization, key).some((grants) => grants.some(({ scopeType }) => scopeType === 'TEAM')),
  );
  const from = bound.length > 0 && chance.happens(0.8) ? bound : ways;
  if (from.length === 0) return null;
  const { token, id, body } = chance.pick(from);
  return [{ ask: { rpc: 'UpdateProject', token, id, body } }];
}

/** Reads from a project in which the key has no permission. */
function enter(deck: Deck): readonly Link[] | null {
  const { chance, organization } = deck;
  const ways = living(deck).flatMap((key) =>
    liveProjects(organization)
      .filter((project) => common(holdersOf(organization, key), projectScope(organization, project)).size === 0)
      .map((project) => ({ token: key.secret.current, project: project.id })),
  );
  if (ways.length === 0) return null;
  return [{ ask: { rpc: chance.pick(['GetTrace', 'GetEvaluator']), id: 'nobody-has-this-id', ...chance.pick(ways) } }];
}

/** Rotates a key and uses its previous token. */
function renew(deck: Deck): readonly Link[] | null {
  const caller = chooseCaller(deck);
  if (caller === null) return null;
  const token = caller.secret.current;
  const overlapSeconds = deck.chance.pick([0, 30]);
  const ask = { rpc: 'ListTeams', token };
  return [
    { ask: { rpc: 'RotateApiKey', token, id: caller.id, body: { overlapSeconds } } },
    { ask },
    { ask, tickMs: overlapSeconds * 1000 },
  ];
}

/** Sends a token in place of an id; the audit log must not hold it. */
function mistake(deck: Deck): readonly Link[] | null {
  const caller = chooseCaller(deck);
  const admin = chooseAdministrator(deck);
  if (caller === null || admin === null) return null;
  const { current: token } = caller.secret;
  const rpc = deck.chance.pick(['GetApiKey', 'RevokeApiKey', 'RotateApiKey']);
  return [
    { ask: { rpc, token, id: token ?? '' } },
    // Refusals are written asynchronously.
    { ask: { rpc: 'ListTeams', token }, tickMs: 2000 },
    { ask: { rpc: 'ListProjects', token } },
    { ask: { rpc: 'ListAuditLog', token: admin.secret.current, query: { limit: '200' } } },
  ];
}

/** Removes a member and lists all keys. */
function leave(deck: Deck): readonly Link[] | null {
  const { chance, organization } = deck;
  const admin = chooseAdministrator(deck);
  const members = [...organization.members.keys()].filter((id) => id !== admin?.userId);
  if (admin === null || members.length === 0) return null;
  const { current: token } = admin.secret;
  return [
    { ask: { rpc: 'RemoveMember', token, id: chance.pick(members) } },
    { ask: { rpc: 'ListApiKeys', token, query: { scope: 'organization', includeRevoked: 'true' } } },
  ];
}

/** A key with every project permission, but not ADMIN, asks for more. */
function administer(deck: Deck): readonly Link[] | null {
  const { chance, organization } = deck;
  const strong = living(deck).filter(
    (key) =>
      !holdsAdmin(key.grants, organization) &&
      mayDo(organization, key, ['project:manage', organizationScope(organization)]),
  );
  if (strong.length === 0) return null;
  const { secret, userId } = chance.pick(strong);
  const bindings = [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organization.id }];
  const create = { rpc: 'CreateApiKey', token: secret.current, body: { name: 'more', bindings } };
  const projects = liveProjects(organization);
  if (userId !== null || projects.length === 0) return [{ ask: create }];
  return [{ ask: { rpc: 'RotateProjectKey', token: secret.current, id: chance.pick(projects).id, body: {} } }];
}

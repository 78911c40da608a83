/** Draws bodies of API keys. */

import { type Key, liveProjects } from '../access-model/state.ts';
import { type Drawing, drawMemberId, drawPermissions, drawProjectId, drawScope, maybeForeign } from './scopes.ts';

type Body = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const LIFETIMES_MS = [MINUTE_MS, 60 * MINUTE_MS, 24 * 60 * MINUTE_MS];

function drawExpiry({ chance, state, key }: Drawing): Body {
  const ends = key !== null && key.expiresAtMs !== null;
  const wish = chance.weigh({ unsent: 65, later: 25, never: ends ? 40 : 7, past: 3 });
  if (wish === 'unsent') return {};
  if (wish === 'never') return { expiresAt: null };
  const atMs = wish === 'past' ? state.nowMs - 1 : state.nowMs + chance.pick(LIFETIMES_MS);
  return { expiresAt: new Date(atMs).toISOString() };
}

/** Bindings with the matching mode and permissions; a few contradict each other. */
function drawGrants(drawing: Drawing): Body {
  const { chance } = drawing;
  const scopes = Array.from({ length: chance.weigh({ 1: 75, 2: 25 }) === '1' ? 1 : 2 }, () => drawScope(drawing));
  const bindings = scopes.map((scope) => ({
    role: chance.weigh({ CUSTOM: 45, MEMBER: 20, VIEWER: 20, ADMIN: 15 }),
    ...scope,
  }));
  const custom = bindings.find(({ role }) => role === 'CUSTOM');
  const isContradictory = chance.happens(0.03);
  if (custom === undefined) {
    const mode = isContradictory ? 'restricted' : chance.pick(['all', 'readonly']);
    return { bindings, ...(isContradictory || chance.happens(0.3) ? { permissionMode: mode } : {}) };
  }
  const mode = isContradictory ? 'all' : 'restricted';
  return { bindings, permissionMode: mode, permissions: drawPermissions(drawing, custom) };
}

export function drawNewKey(drawing: Drawing): Body {
  const { chance, turn, key } = drawing;
  const kind = chance.weigh({ own: 50, other: 22, service: 30, oneself: 3 });
  const name = { name: `key ${turn}` };
  const expiry = drawExpiry(drawing);
  if (kind === 'service') {
    const projectIds = chance.happens(0.35) ? { projectIds: drawProjects(drawing) } : {};
    const grants = chance.happens(0.75) ? drawGrants(drawing) : {};
    return { ...name, keyType: 'service', ...expiry, ...projectIds, ...grants };
  }
  const owner =
    kind === 'own' ? {} : { assignedToUserId: kind === 'other' ? drawMemberId(drawing) : (key?.userId ?? null) };
  const label = chance.happens(0.3) ? { permissionMode: chance.pick(['all', 'readonly']) } : {};
  return { ...name, ...owner, ...expiry, ...(chance.happens(0.78) ? drawGrants(drawing) : label) };
}

function drawProjects(drawing: Drawing): readonly string[] {
  if (drawing.chance.happens(0.15)) return [];
  return [...new Set(Array.from({ length: 1 + drawing.chance.below(2) }, () => drawProjectId(drawing)))];
}

export function drawKeyId(drawing: Drawing): string {
  const { chance, key, organization } = drawing;
  if (key !== null && chance.happens(0.1)) return key.id;
  // A token sent as an id must not appear in any later answer.
  if (key?.secret.current != null && chance.happens(0.02)) return key.secret.current;
  const isOwn = chance.happens(0.35);
  return maybeForeign(drawing, ({ id, keys }) => {
    const all = [...keys.values()];
    const own = id === organization.id && isOwn ? all.filter(({ userId }) => userId === key?.userId) : [];
    return (own.length > 0 ? own : all).map((each) => each.id);
  });
}

/** Draws changes of a key. */
export function drawKeyChange(drawing: Drawing, target: Key | undefined): Body {
  const { chance, turn, organization } = drawing;
  const wish = chance.weigh({
    name: 15,
    grants: 40,
    list: 8,
    mode: 5,
    expiry: 15,
    projects: 8,
    kind: 3,
    whole: 4,
    none: 2,
  });
  switch (wish) {
    case 'name':
      return { name: `renamed ${turn}`, description: chance.happens(0.5) ? `text ${turn}` : null };
    case 'grants':
      return drawGrants(drawing);
    case 'list':
      return { permissions: drawPermissions(drawing, drawScope(drawing)) };
    case 'mode':
      return { permissionMode: chance.pick(['all', 'readonly', 'restricted']) };
    case 'expiry':
      return drawExpiry(drawing);
    case 'projects':
      return { projectIds: liveProjects(organization).length === 0 ? [] : drawProjects(drawing) };
    case 'kind':
      return chance.happens(0.5)
        ? { keyType: chance.pick(['personal', 'service']) }
        : { assignedToUserId: chance.pick([null, target?.userId ?? null, drawMemberId(drawing)]) };
    case 'whole':
      return target === undefined ? {} : asRead(target);
    default:
      return {};
  }
}

/** The key as an answer shows it, with another name. */
function asRead(key: Key): Body {
  const permissions = [...new Set(key.grants.flatMap((grant) => grant.permissions))].sort();
  return {
    id: key.id,
    keyType: key.keyType,
    name: `${key.name}.`,
    description: key.description,
    assignedToUserId: key.userId,
    permissionMode: key.permissionMode,
    permissions,
    bindings: key.grants.map(({ role, scopeType, scopeId }) => ({ role, scopeType, scopeId })),
    expiresAt: key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString(),
  };
}

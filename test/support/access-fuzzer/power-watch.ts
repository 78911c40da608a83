/** Checks, apart from the model, that no request gives more power than its caller has. */

import {
  allScopes,
  asked,
  common,
  grantsOfMember,
  type Holders,
  holdersOf,
  type ScopeChain,
} from '../access-model/power.ts';
import type { Grant, Key, Organization } from '../access-model/state.ts';
import type { Ask } from '../access-model/verdict.ts';

type Body = Readonly<Record<string, unknown>>;
type Powers = ReadonlyMap<string, ReadonlySet<string>>;

/** Rpcs that may add permissions. */
export const GIVES_POWER: ReadonlySet<string> = new Set([
  ...['CreateApiKey', 'UpdateApiKey', 'RotateApiKey', 'CreateMember', 'UpdateMember', 'CreateRoleBinding'],
  'UpdateProject',
]);

/** Reads permissions before a request; the returned function reads them again and describes violations. */
export function watchPower(organization: Organization, caller: Key, ask: Ask): (body: Body) => readonly string[] {
  const scopes = allScopes(organization);
  const held = powersOf(holdersOf(organization, caller), scopes);
  const { expiresAtMs } = caller;
  // A new token counts as new power, even for an old key.
  const isNew = ask.rpc === 'RotateApiKey' && ask.id !== caller.id;
  const before = isNew ? new Map() : powersOf(subjectOf(organization, ask, {}), scopes);
  const callerBefore = holdersOf(organization, caller);
  return (body) => {
    const found = [...gains(before, powersOf(subjectOf(organization, ask, body), scopes), held)];
    if (ask.rpc === 'CreateApiKey' || isNew)
      found.push(...lasting(organization, String(ask.id ?? body.id), expiresAtMs));
    if (ask.rpc !== 'UpdateProject') return found;
    // Checks key and owner separately: other keys of the owner gain as well.
    const now = allScopes(organization);
    const nothing: Powers = new Map();
    return callerBefore.flatMap((grants) => [...gains(nothing, powersOf([grants], now), powersOf([grants], scopes))]);
  };
}

/** Checks that the caller still has the permissions of a key in a replayed answer. */
export function watchReplay(organization: Organization, caller: Key, body: Body): readonly string[] {
  const made = body.apiKey as {
    readonly bindings: readonly Grant[];
    readonly permissions: readonly string[];
    userId: string | null;
  };
  const grants = made.bindings.map((grant) => ({ ...grant, permissions: made.permissions }));
  const scopes = allScopes(organization);
  const power = powersOf(holdersOf(organization, { grants, userId: made.userId }), scopes);
  return [...gains(new Map(), power, powersOf(holdersOf(organization, caller), scopes))];
}

/** The holders a request changes. */
function subjectOf(organization: Organization, { rpc, id, body: sent }: Ask, body: Body): Holders {
  const keyId = { CreateApiKey: body.id, UpdateApiKey: id, RotateApiKey: id }[rpc];
  const key = organization.keys.get(String(keyId));
  if (key !== undefined) return holdersOf(organization, key);
  const userId = { CreateMember: body.userId, UpdateMember: id, CreateRoleBinding: sent?.userId }[rpc];
  return userId === undefined ? [[]] : [grantsOfMember(organization, String(userId))];
}

function powersOf(holders: Holders, scopes: readonly ScopeChain[]): Powers {
  return new Map(scopes.map((scope) => [scope.chain.at(-1) ?? '', asked(common(holders, scope), scope)]));
}

function gains(before: Powers, after: Powers, allowed: Powers): readonly string[] {
  return [...after].flatMap(([scope, power]) => {
    const gained = [...power].filter((each) => !before.get(scope)?.has(each) && !allowed.get(scope)?.has(each));
    return gained.length === 0 ? [] : [`power was gained at ${scope}: ${gained.join(' ')}`];
  });
}

function lasting({ keys }: Organization, id: string, expiresAtMs: number | null): readonly string[] {
  const made = keys.get(id);
  if (made === undefined || expiresAtMs === null) return [];
  return made.expiresAtMs !== null && made.expiresAtMs <= expiresAtMs ? [] : ['a key outlasts the one that made it'];
}

/** The catalogue of permissions for callers, and the reason for a name that is not in it. */

import type { Reason } from '../fault.ts';
import { nearestMatch, spellNearest } from '../nearest-match.ts';
import { RECEIVED_CHARACTERS_MAX } from '../reasons.ts';
import { maskedHead } from '../token-mask.ts';
import { expand, isOrganizationOnly, PERMISSIONS, subjectOf } from './permission-catalogue.ts';
import { grants, type Role, type Scope, type ScopeType } from './permissions.ts';

type PermissionView = {
  readonly name: string;
  /** One sentence about what it allows. */
  readonly description: string;
  /** The scopes where a CUSTOM grant can give it. */
  readonly scopes: readonly ScopeType[];
  /** Implied permissions, in the order of the catalogue. */
  readonly implies: readonly string[];
  /** The built-in roles that give it, and the scopes where a grant of the role gives it, there or below. */
  readonly roles: readonly { readonly role: Role; readonly scopes: readonly ScopeType[] }[];
};

/** Every permission, in the order of the catalogue. */
export function listPermissions(): readonly PermissionView[] {
  return PERMISSIONS.map((name) => ({
    name,
    description: describe(name),
    scopes: isOrganizationOnly(name) ? ['ORGANIZATION'] : ['ORGANIZATION', 'TEAM', 'PROJECT'],
    implies: [...expand([name])].filter((each) => each !== name),
    roles: ROLES.map((role) => ({ role, scopes: scopesOf(role, name) })).filter(({ scopes }) => scopes.length > 0),
  }));
}

const ROLES = ['ADMIN', 'MEMBER', 'VIEWER'] as const;
/** The ids do not matter: a role gives the same at every scope of a type. */
const PATH = { organizationId: 'organization', teamId: 'team', projectId: 'project' };
const ORGANIZATION: Scope = { type: 'ORGANIZATION', ...PATH };
const TEAM: Scope = { type: 'TEAM', ...PATH };
const PROJECT: Scope = { type: 'PROJECT', ...PATH };
const SCOPES: readonly {
  readonly scopeType: ScopeType;
  readonly scopeId: string;
  readonly reached: readonly Scope[];
}[] = [
  { scopeType: 'ORGANIZATION', scopeId: PATH.organizationId, reached: [ORGANIZATION, TEAM, PROJECT] },
  { scopeType: 'TEAM', scopeId: PATH.teamId, reached: [TEAM, PROJECT] },
  { scopeType: 'PROJECT', scopeId: PATH.projectId, reached: [PROJECT] },
];

function scopesOf(role: Role, permission: string): readonly ScopeType[] {
  return SCOPES.filter(({ scopeType, scopeId, reached }) =>
    reached.some((scope) => grants([{ role, scopeType, scopeId, permissions: [] }], permission, scope)),
  ).map(({ scopeType }) => scopeType);
}

/** The reason for an unknown permission, with the nearest known names. */
export function permissionReason(field: string, value: string): Reason {
  const nearest = guessPermissions(value);
  return {
    field,
    type: 'invalid_enum_value',
    message: `${field} is not a permission${spellNearest(nearest)}; GET /api/permissions lists them all`,
    ...(nearest.length === 0 ? {} : { expected: [...nearest] }),
    received: maskedHead(value, RECEIVED_CHARACTERS_MAX),
  };
}

const GUESSES_MAX = 10;
/** Strict, because half of a name is the action, which many permissions share. */
const CHANGES_MAX = 1 / 4;
/** A shorter stem matches too many resources. */
const STEM_CHARACTERS_MIN = 3;

function guessPermissions(value: string): readonly string[] {
  const nearest = nearestMatch(value, PERMISSIONS, CHANGES_MAX);
  if (nearest !== null) return [nearest];
  const [resource = '', action = ''] = value.toLowerCase().split(':', 2);
  const stem = resource.replace(/s$/, '');
  if (stem.length < STEM_CHARACTERS_MIN) return [];
  const related = PERMISSIONS.filter((name) => name.toLowerCase().startsWith(stem));
  const alike = related.filter((name) => name.endsWith(`:${action}`));
  return (alike.length > 0 ? alike : related).slice(0, GUESSES_MAX);
}

const VERBS: Readonly<Record<string, string>> = {
  view: 'See',
  create: 'Create',
  update: 'Change',
  delete: 'Delete',
  manage: 'Do everything with',
  share: 'Share',
  rotate: 'Rotate',
  attach: 'Attach',
  detach: 'Detach',
};

/** Descriptions that verb and resource cannot express. */
const SENTENCES: Readonly<Record<string, string>> = {
  'organization:view': 'See the organization, own API keys and the service keys.',
  'organization:manage':
    'Rename the organization, and manage API keys, members and role bindings within what one holds.',
  'project:manage': 'Do everything with projects: their keys and settings, too.',
  'virtualKeys:viewOtherPersonal': 'See the personal virtual keys of other people.',
};

function describe(name: string): string {
  const [, action = ''] = name.split(':');
  return SENTENCES[name] ?? `${VERBS[action]} ${subjectOf(name)}.`;
}

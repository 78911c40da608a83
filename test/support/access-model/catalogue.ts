/** All permissions and those of the built-in roles, written independently to reveal mistakes in the product. */

type Row = readonly [resources: string, actions: string, where: 'anywhere' | 'organization'];

const EACH = 'view create update delete manage';

const TABLE: readonly Row[] = [
  ['organization', 'view manage delete', 'organization'],
  ['project analytics scenarios annotations evaluations datasets triggers workflows', EACH, 'anywhere'],
  ['experiments prompts secrets playground langy gatewayBudgets gatewayCacheRules', EACH, 'anywhere'],
  ['team routingPolicies', 'view manage', 'anywhere'],
  ['cost auditLog gatewayLogs gatewayUsage', 'view', 'anywhere'],
  ['traces', 'view create update share', 'anywhere'],
  ['virtualKeys', 'view create update delete rotate manage viewOtherPersonal', 'anywhere'],
  ['gatewayProviders', 'view update manage', 'anywhere'],
  ['gatewayGuardrails', 'view attach detach manage', 'anywhere'],
  ['ops governance aiTools webhookEndpoints gatewaySpend', 'view manage', 'organization'],
  ['ingestionSources anomalyRules', EACH, 'organization'],
  ['complianceExport activityMonitor', 'view', 'organization'],
];

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function namesOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(([resources, actions]) =>
    words(resources).flatMap((resource) => words(actions).map((action) => `${resource}:${action}`)),
  );
}

export const ALL_PERMISSIONS: readonly string[] = namesOf(TABLE);

const atOrganizationOnly = new Set(namesOf(TABLE.filter(([, , where]) => where === 'organization')));

/** Whether only organization grants can give it. */
export function isForOrganizations(permission: string): boolean {
  return atOrganizationOnly.has(permission);
}

const askedAtOrganization = new Set([
  ...atOrganizationOnly,
  ...ofEach('team', 'manage'),
  ...ofEach('auditLog', 'view'),
  ...ALL_PERMISSIONS.filter((permission) => /^(gateway|virtualKeys|routingPolicies)/.test(permission)),
]);

/** Whether some operation asks for it at this kind of place. */
export function isAsked(permission: string, kind: 'ORGANIZATION' | 'TEAM' | 'PROJECT'): boolean {
  return kind === 'ORGANIZATION' ? askedAtOrganization.has(permission) : !atOrganizationOnly.has(permission);
}

/** Adds every permission that each `manage` includes. */
export function expand(permissions: Iterable<string>): ReadonlySet<string> {
  const expanded = new Set(permissions);
  for (const permission of [...expanded]) {
    const [resource, action] = permission.split(':');
    if (action !== 'manage') continue;
    for (const other of ALL_PERMISSIONS) if (other.startsWith(`${resource}:`)) expanded.add(other);
  }
  return expanded;
}

function ofEach(resources: string, actions: string): readonly string[] {
  return words(resources).flatMap((resource) => words(actions).map((action) => `${resource}:${action}`));
}

const VIEWER_LIST = ofEach(
  `project analytics traces annotations evaluations datasets workflows experiments prompts scenarios secrets team
   virtualKeys gatewayBudgets gatewayProviders routingPolicies gatewayGuardrails gatewayLogs auditLog gatewayUsage
   gatewayCacheRules`,
  'view',
);
const MEMBER_LIST = [
  ...VIEWER_LIST,
  ...ofEach('project', 'create update'),
  ...ofEach('cost', 'view'),
  ...ofEach('traces', 'create update share'),
  ...ofEach(
    'analytics annotations evaluations workflows experiments datasets prompts scenarios secrets triggers',
    'manage',
  ),
  ...ofEach('virtualKeys', 'create update rotate'),
  ...ofEach('langy', 'view create update delete'),
];
const ADMIN_LIST = [
  ...MEMBER_LIST,
  ...ofEach(
    `project team virtualKeys gatewayBudgets gatewayProviders routingPolicies gatewayGuardrails gatewayCacheRules
     langy`,
    'manage',
  ),
];

export const VIEWER_BAG = expand(VIEWER_LIST);
export const MEMBER_BAG = expand(MEMBER_LIST);
export const ADMIN_BAG = expand(ADMIN_LIST);
export const EVERYTHING: ReadonlySet<string> = new Set(ALL_PERMISSIONS);

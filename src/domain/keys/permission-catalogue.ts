const ORGANIZATION_ONLY = 'organization only';

/** `subject`: the resource in words of a sentence. */
type Resource = readonly [name: string, actions: string, subject: string, reach?: typeof ORGANIZATION_ONLY];

const everyAction = 'view create update delete manage';

// One row per resource, as in the published table.
const resources: readonly Resource[] = [
  ['organization', 'view manage delete', 'the organization', ORGANIZATION_ONLY],
  ['project', everyAction, 'projects'],
  ['analytics', everyAction, 'analytics'],
  ['scenarios', everyAction, 'scenarios'],
  ['annotations', everyAction, 'annotations'],
  ['evaluations', everyAction, 'evaluators and evaluations'],
  ['datasets', everyAction, 'datasets'],
  ['triggers', everyAction, 'triggers'],
  ['workflows', everyAction, 'workflows'],
  ['experiments', everyAction, 'experiments'],
  ['prompts', everyAction, 'prompts'],
  ['secrets', everyAction, 'secrets of projects'],
  ['playground', everyAction, 'the playground'],
  ['langy', everyAction, 'conversations with Langy'],
  ['gatewayBudgets', everyAction, 'budgets of the gateway'],
  ['gatewayCacheRules', everyAction, 'cache rules of the gateway'],
  ['team', 'view manage', 'teams'],
  ['routingPolicies', 'view manage', 'routing policies'],
  ['cost', 'view', 'costs'],
  ['auditLog', 'view', 'the audit log'],
  ['gatewayLogs', 'view', 'logs of the gateway'],
  ['gatewayUsage', 'view', 'the usage of the gateway'],
  ['traces', 'view create update share', 'traces'],
  ['virtualKeys', 'view create update delete rotate manage viewOtherPersonal', 'virtual keys'],
  ['gatewayProviders', 'view update manage', 'providers of the gateway'],
  ['gatewayGuardrails', 'view attach detach manage', 'guardrails of the gateway'],
  ['ops', 'view manage', 'the operation of the installation', ORGANIZATION_ONLY],
  ['governance', 'view manage', 'governance', ORGANIZATION_ONLY],
  ['aiTools', 'view manage', 'AI tools', ORGANIZATION_ONLY],
  ['webhookEndpoints', 'view manage', 'webhook endpoints, their deliveries and the event log', ORGANIZATION_ONLY],
  ['gatewaySpend', 'view manage', 'what gateways report of requests and spending', ORGANIZATION_ONLY],
  ['ingestionSources', everyAction, 'ingestion sources', ORGANIZATION_ONLY],
  ['anomalyRules', everyAction, 'anomaly rules', ORGANIZATION_ONLY],
  ['complianceExport', 'view', 'exports for compliance', ORGANIZATION_ONLY],
  ['activityMonitor', 'view', 'the activity monitor', ORGANIZATION_ONLY],
];

/** All 126 permission names, `<resource>:<action>`, in catalogue order. */
export const PERMISSIONS: readonly string[] = Object.freeze(resources.flatMap(namesOf));

const everything: ReadonlySet<string> = new Set(PERMISSIONS);
const organizationOnly: ReadonlySet<string> = new Set(
  resources.filter(([, , , reach]) => reach === ORGANIZATION_ONLY).flatMap(namesOf),
);
/**
 * A policy that requires another permission at the organization does not start. Of the gateway some permissions are
 * required at the organization or below, by the scope of the record.
 */
const requiredAtOrganization: ReadonlySet<string> = new Set([
  ...organizationOnly,
  ...['team:manage', 'auditLog:view'],
  ...resources
    .filter(([name]) => ['virtualKeys', 'routingPolicies'].includes(name) || name.startsWith('gateway'))
    .flatMap(namesOf),
]);
const grantedByName: ReadonlyMap<string, readonly string[]> = new Map(
  resources.flatMap((resource) =>
    namesOf(resource).map((name) => [name, name.endsWith(':manage') ? namesOf(resource) : [name]] as const),
  ),
);

/** True for a catalogue name, spelled exactly. */
export function isPermission(name: string): boolean {
  return everything.has(name);
}

/** True when the permission takes effect only through a binding at ORGANIZATION; false for unknown names. */
export function isOrganizationOnly(permission: string): boolean {
  return organizationOnly.has(permission);
}

/** Whether operations require the permission at the organization: a grant of it below does not help there. */
export function isRequiredAtOrganization(permission: string): boolean {
  return requiredAtOrganization.has(permission);
}

/** Whether operations require the permission at teams or projects. */
export function isRequiredBelow(permission: string): boolean {
  return everything.has(permission) && !organizationOnly.has(permission);
}

/** Whether the permission allows to look, and nothing else. */
export function isRead(permission: string): boolean {
  return permission.includes(':view');
}

/** Adds the permissions that `:manage` implies. Drops names outside the catalogue. */
export function expand(names: Iterable<string>): ReadonlySet<string> {
  const expanded = new Set<string>();
  for (const name of names) {
    for (const granted of grantedByName.get(name) ?? []) expanded.add(granted);
  }
  return expanded;
}

const viewer = [
  ...['project', 'analytics', 'traces', 'annotations', 'evaluations', 'datasets', 'workflows', 'experiments'],
  ...['prompts', 'scenarios', 'secrets', 'team', 'virtualKeys', 'gatewayBudgets', 'gatewayProviders'],
  ...['routingPolicies', 'gatewayGuardrails', 'gatewayLogs', 'auditLog', 'gatewayUsage', 'gatewayCacheRules'],
].map((resource) => `${resource}:view`);

const member = [
  ...viewer,
  ...['project:create', 'project:update', 'analytics:manage', 'cost:view'],
  ...['traces:create', 'traces:update', 'traces:share'],
  ...['annotations:manage', 'evaluations:manage', 'workflows:manage', 'experiments:manage', 'datasets:manage'],
  ...['prompts:manage', 'scenarios:manage', 'secrets:manage', 'triggers:manage'],
  ...['virtualKeys:create', 'virtualKeys:update', 'virtualKeys:rotate'],
  ...['langy:view', 'langy:create', 'langy:update', 'langy:delete'],
];

const admin = [
  ...member,
  ...['project:manage', 'team:manage', 'virtualKeys:manage', 'gatewayBudgets:manage', 'gatewayProviders:manage'],
  ...['routingPolicies:manage', 'gatewayGuardrails:manage', 'gatewayCacheRules:manage', 'langy:manage'],
];

/** Permissions of the built-in roles, `manage` already expanded; `everything` is the whole catalogue. */
export const ROLE_PERMISSIONS: Readonly<Record<'VIEWER' | 'MEMBER' | 'ADMIN' | 'everything', ReadonlySet<string>>> = {
  VIEWER: expand(viewer),
  MEMBER: expand(member),
  ADMIN: expand(admin),
  everything,
};

function namesOf([name, actions]: Resource): readonly string[] {
  return actions.split(' ').map((action) => `${name}:${action}`);
}

/** What a permission is about, in words of a sentence. */
export function subjectOf(permission: string): string {
  const [, , subject = ''] = resources.find(([name]) => permission.startsWith(`${name}:`)) ?? [];
  return subject;
}

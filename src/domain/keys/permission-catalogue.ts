type Resource = { name: string; actions: string; organizationOnly?: true };

const everyAction = 'view create update delete manage';

// One row per resource, as in the published table.
const resources: readonly Resource[] = [
  { name: 'organization', actions: 'view manage delete', organizationOnly: true },
  { name: 'project', actions: everyAction },
  { name: 'analytics', actions: everyAction },
  { name: 'scenarios', actions: everyAction },
  { name: 'annotations', actions: everyAction },
  { name: 'evaluations', actions: everyAction },
  { name: 'datasets', actions: everyAction },
  { name: 'triggers', actions: everyAction },
  { name: 'workflows', actions: everyAction },
  { name: 'experiments', actions: everyAction },
  { name: 'prompts', actions: everyAction },
  { name: 'secrets', actions: everyAction },
  { name: 'playground', actions: everyAction },
  { name: 'langy', actions: everyAction },
  { name: 'gatewayBudgets', actions: everyAction },
  { name: 'gatewayCacheRules', actions: everyAction },
  { name: 'team', actions: 'view manage' },
  { name: 'routingPolicies', actions: 'view manage' },
  { name: 'cost', actions: 'view' },
  { name: 'auditLog', actions: 'view' },
  { name: 'gatewayLogs', actions: 'view' },
  { name: 'gatewayUsage', actions: 'view' },
  { name: 'traces', actions: 'view create update share' },
  { name: 'virtualKeys', actions: 'view create update delete rotate manage viewOtherPersonal' },
  { name: 'gatewayProviders', actions: 'view update manage' },
  { name: 'gatewayGuardrails', actions: 'view attach detach manage' },
  { name: 'ops', actions: 'view manage', organizationOnly: true },
  { name: 'governance', actions: 'view manage', organizationOnly: true },
  { name: 'aiTools', actions: 'view manage', organizationOnly: true },
  { name: 'webhookEndpoints', actions: 'view manage', organizationOnly: true },
  { name: 'gatewaySpend', actions: 'view manage', organizationOnly: true },
  { name: 'ingestionSources', actions: everyAction, organizationOnly: true },
  { name: 'anomalyRules', actions: everyAction, organizationOnly: true },
  { name: 'complianceExport', actions: 'view', organizationOnly: true },
  { name: 'activityMonitor', actions: 'view', organizationOnly: true },
];

/** All 126 permission names, `<resource>:<action>`, in catalogue order. */
export const PERMISSIONS: readonly string[] = Object.freeze(resources.flatMap(namesOf));

const everything: ReadonlySet<string> = new Set(PERMISSIONS);
const organizationOnly: ReadonlySet<string> = new Set(
  resources.filter((resource) => resource.organizationOnly).flatMap(namesOf),
);
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

function namesOf(resource: Resource): readonly string[] {
  return resource.actions.split(' ').map((action) => `${resource.name}:${action}`);
}

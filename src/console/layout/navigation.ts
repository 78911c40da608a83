/** All pages, and the permission that each needs. */

export type NavItem = { readonly to: string; readonly label: string; readonly permission: string };

export const PROJECT_ITEMS = [
  { to: '/$slug/overview', label: 'Overview', permission: 'analytics:view' },
  { to: '/$slug/traces', label: 'Traces', permission: 'traces:view' },
  { to: '/$slug/threads', label: 'Threads', permission: 'analytics:view' },
  { to: '/$slug/users', label: 'Users', permission: 'analytics:view' },
  { to: '/$slug/evaluators', label: 'Evaluators', permission: 'evaluations:view' },
  { to: '/$slug/monitors', label: 'Monitors', permission: 'evaluations:view' },
  { to: '/$slug/datasets', label: 'Datasets', permission: 'datasets:view' },
  { to: '/$slug/experiments', label: 'Experiments', permission: 'experiments:view' },
  { to: '/$slug/settings', label: 'Settings', permission: 'project:view' },
] as const satisfies readonly NavItem[];

export const ORGANIZATION_ITEMS = [
  { to: '/-/webhooks', label: 'Webhooks', permission: 'webhookEndpoints:view' },
  { to: '/-/events', label: 'Events', permission: 'webhookEndpoints:view' },
  { to: '/-/keys', label: 'API keys', permission: 'organization:view' },
  { to: '/-/projects', label: 'Projects', permission: 'project:view' },
  { to: '/-/members', label: 'Members', permission: 'organization:manage' },
  { to: '/-/teams', label: 'Teams and roles', permission: 'team:view' },
  { to: '/-/model-providers', label: 'Model providers', permission: 'gatewayProviders:view' },
  { to: '/-/virtual-keys', label: 'Virtual keys', permission: 'virtualKeys:view' },
  { to: '/-/budgets', label: 'Budgets', permission: 'gatewayBudgets:view' },
  { to: '/-/spend', label: 'Spend', permission: 'gatewaySpend:view' },
  { to: '/-/prices', label: 'Prices', permission: 'organization:view' },
  { to: '/-/audit-log', label: 'Audit log', permission: 'auditLog:view' },
  { to: '/-/settings', label: 'Organization', permission: 'organization:view' },
] as const satisfies readonly NavItem[];

/** All pages, the group of the menu that each is in, and the permission that it needs. */

import type { IconName } from '../design/icon-paths.ts';

export type NavItem = {
  readonly to: string;
  readonly label: string;
  readonly permission: string;
  readonly icon: IconName;
  readonly group: string;
};

const OBSERVE = 'Observe';
const EVALUATE = 'Evaluate';
const GATEWAY = 'Gateway';
const DELIVERY = 'Delivery';
const ORGANIZATION = 'Organization';

export const PROJECT_ITEMS = [
  { to: '/$slug/overview', label: 'Overview', permission: 'analytics:view', icon: 'overview', group: OBSERVE },
  {
    to: '/$slug/dashboards',
    label: 'Dashboards',
    permission: 'analytics:view',
    icon: 'dashboards',
    group: OBSERVE,
  },
  { to: '/$slug/traces', label: 'Traces', permission: 'traces:view', icon: 'traces', group: OBSERVE },
  { to: '/$slug/threads', label: 'Threads', permission: 'traces:view', icon: 'threads', group: OBSERVE },
  { to: '/$slug/users', label: 'Users', permission: 'traces:view', icon: 'users', group: OBSERVE },
  { to: '/$slug/triggers', label: 'Triggers', permission: 'triggers:view', icon: 'triggers', group: OBSERVE },
  { to: '/$slug/prompts', label: 'Prompts', permission: 'prompts:view', icon: 'prompts', group: EVALUATE },
  { to: '/$slug/evaluators', label: 'Evaluators', permission: 'evaluations:view', icon: 'evaluators', group: EVALUATE },
  { to: '/$slug/monitors', label: 'Monitors', permission: 'evaluations:view', icon: 'monitors', group: EVALUATE },
  { to: '/$slug/datasets', label: 'Datasets', permission: 'datasets:view', icon: 'datasets', group: EVALUATE },
  {
    to: '/$slug/experiments',
    label: 'Experiments',
    permission: 'experiments:view',
    icon: 'experiments',
    group: EVALUATE,
  },
  { to: '/$slug/queues', label: 'Review queues', permission: 'annotations:view', icon: 'queues', group: EVALUATE },
  { to: '/$slug/settings', label: 'Settings', permission: 'project:view', icon: 'settings', group: 'Project' },
] as const satisfies readonly NavItem[];

export const ORGANIZATION_ITEMS = [
  {
    to: '/-/model-providers',
    label: 'Model providers',
    permission: 'gatewayProviders:view',
    icon: 'providers',
    group: GATEWAY,
  },
  { to: '/-/virtual-keys', label: 'Virtual keys', permission: 'virtualKeys:view', icon: 'virtualKeys', group: GATEWAY },
  { to: '/-/budgets', label: 'Budgets', permission: 'gatewayBudgets:view', icon: 'budgets', group: GATEWAY },
  { to: '/-/spend', label: 'Spend', permission: 'gatewaySpend:view', icon: 'spend', group: GATEWAY },
  { to: '/-/prices', label: 'Prices', permission: 'organization:view', icon: 'prices', group: GATEWAY },
  { to: '/-/webhooks', label: 'Webhooks', permission: 'webhookEndpoints:view', icon: 'webhooks', group: DELIVERY },
  { to: '/-/events', label: 'Events', permission: 'webhookEndpoints:view', icon: 'events', group: DELIVERY },
  { to: '/-/keys', label: 'API keys', permission: 'organization:view', icon: 'keys', group: ORGANIZATION },
  { to: '/-/projects', label: 'Projects', permission: 'project:view', icon: 'projects', group: ORGANIZATION },
  { to: '/-/members', label: 'Members', permission: 'organization:manage', icon: 'members', group: ORGANIZATION },
  { to: '/-/teams', label: 'Teams and roles', permission: 'team:view', icon: 'teams', group: ORGANIZATION },
  { to: '/-/audit-log', label: 'Audit log', permission: 'auditLog:view', icon: 'auditLog', group: ORGANIZATION },
  {
    to: '/-/settings',
    label: 'Organization',
    permission: 'organization:view',
    icon: 'organization',
    group: ORGANIZATION,
  },
] as const satisfies readonly NavItem[];

/** The items that the caller may open, by group, without groups that are empty. */
export function groupsOf<Item extends NavItem>(
  items: readonly Item[],
  may: (permission: string) => boolean,
): readonly (readonly [group: string, items: readonly Item[]])[] {
  return [
    ...Map.groupBy(
      items.filter(({ permission }) => may(permission)),
      ({ group }) => group,
    ),
  ];
}

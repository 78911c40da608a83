/** Pages that set what holds for the whole organization. */

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organization } from './parent-routes.tsx';

const pricesRoute = createRoute({
  getParentRoute: () => organization,
  path: 'prices',
  validateSearch: ({ model }: Record<string, unknown>): { model?: string } =>
    typeof model === 'string' && model !== '' ? { model } : {},
  component: lazyRouteComponent(() => import('./prices/prices-page.tsx'), 'PricesPage'),
});

const teamsRoute = createRoute({
  getParentRoute: () => organization,
  path: 'teams',
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: 'roles' } => (tab === 'roles' ? { tab } : {}),
  component: lazyRouteComponent(() => import('./organization/teams-page.tsx'), 'TeamsPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => organization,
  path: 'settings',
  component: lazyRouteComponent(() => import('./settings/organization-page.tsx'), 'OrganizationPage'),
});

export const organizationRoutes = [pricesRoute, teamsRoute, settingsRoute] as const;

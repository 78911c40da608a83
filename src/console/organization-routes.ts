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

export const organizationRoutes = [pricesRoute] as const;

/** Pages that judge what an application did. */

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readEvaluatorSearch } from './evaluators/search.ts';
import { project } from './parent-routes.tsx';

const evaluatorListRoute = createRoute({
  getParentRoute: () => project,
  path: 'evaluators',
  component: lazyRouteComponent(() => import('./evaluators/evaluator-list-page.tsx'), 'EvaluatorListPage'),
});

const newEvaluatorRoute = createRoute({
  getParentRoute: () => project,
  path: 'evaluators/new',
  validateSearch: ({ type }: Record<string, unknown>): { type?: string } => (typeof type === 'string' ? { type } : {}),
  component: lazyRouteComponent(() => import('./evaluators/new-evaluator-page.tsx'), 'NewEvaluatorPage'),
});

const evaluatorRoute = createRoute({
  getParentRoute: () => project,
  path: 'evaluators/$evaluatorId',
  validateSearch: readEvaluatorSearch,
  component: lazyRouteComponent(() => import('./evaluators/evaluator-page.tsx'), 'EvaluatorPage'),
});

export const evaluationRoutes = [evaluatorListRoute, newEvaluatorRoute, evaluatorRoute] as const;

/** The routes of evaluators, monitors, datasets and experiments. */

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readDatasetSearch } from './datasets/search.ts';
import { readEvaluatorSearch } from './evaluators/search.ts';
import { readRunSearch } from './experiments/search.ts';
import { readMonitorSearch } from './monitors/search.ts';
import { project } from './parent-routes.tsx';
import { readRange } from './traces/range.ts';

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

const monitorListRoute = createRoute({
  getParentRoute: () => project,
  path: 'monitors',
  validateSearch: readRange,
  component: lazyRouteComponent(() => import('./monitors/monitor-list-page.tsx'), 'MonitorListPage'),
});

const newMonitorRoute = createRoute({
  getParentRoute: () => project,
  path: 'monitors/new',
  validateSearch: ({ evaluator }: Record<string, unknown>): { evaluator?: string } =>
    typeof evaluator === 'string' ? { evaluator } : {},
  component: lazyRouteComponent(() => import('./monitors/new-monitor-page.tsx'), 'NewMonitorPage'),
});

const monitorRoute = createRoute({
  getParentRoute: () => project,
  path: 'monitors/$monitorId',
  validateSearch: readMonitorSearch,
  component: lazyRouteComponent(() => import('./monitors/monitor-page.tsx'), 'MonitorPage'),
});

const datasetListRoute = createRoute({
  getParentRoute: () => project,
  path: 'datasets',
  component: lazyRouteComponent(() => import('./datasets/dataset-list-page.tsx'), 'DatasetListPage'),
});

const datasetRoute = createRoute({
  getParentRoute: () => project,
  path: 'datasets/$datasetId',
  validateSearch: readDatasetSearch,
  component: lazyRouteComponent(() => import('./datasets/dataset-page.tsx'), 'DatasetPage'),
});

const experimentListRoute = createRoute({
  getParentRoute: () => project,
  path: 'experiments',
  component: lazyRouteComponent(() => import('./experiments/experiment-list-page.tsx'), 'ExperimentListPage'),
});

const experimentRoute = createRoute({
  getParentRoute: () => project,
  path: 'experiments/$experimentId',
  component: lazyRouteComponent(() => import('./experiments/experiment-page.tsx'), 'ExperimentPage'),
});

const runRoute = createRoute({
  getParentRoute: () => project,
  path: 'experiments/$experimentId/runs/$runId',
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import('./experiments/run-page.tsx'), 'RunPage'),
});

export const evaluationRoutes = [
  evaluatorListRoute,
  newEvaluatorRoute,
  evaluatorRoute,
  monitorListRoute,
  newMonitorRoute,
  monitorRoute,
  datasetListRoute,
  datasetRoute,
  experimentListRoute,
  experimentRoute,
  runRoute,
] as const;

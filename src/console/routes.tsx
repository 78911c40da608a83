/** The routes. The address holds all state of a page, so that it can be reloaded and shared. */

import { createRoute, createRouter, lazyRouteComponent as lazyPage, Navigate } from '@tanstack/react-router';
import { readDatasetSearch } from './datasets/search.ts';
import { Loading } from './design/button.tsx';
import { FailureNotice } from './design/failure.tsx';
import page from './design/page.module.css';
import { readEvaluatorSearch } from './evaluators/search.ts';
import { readRunSearch } from './experiments/search.ts';
import { readMonitorSearch } from './monitors/search.ts';
import { readAuditLogSearch } from './organization/audit-log-search.ts';
import { readOverviewSearch } from './overview/search.ts';
import { NothingHere, organization, project, root } from './parent-routes.tsx';
import { useSession } from './session/session.tsx';
import { readSpendSearch } from './spend/search.ts';
import { readTraceSearch } from './trace/search.ts';
import { type RangeSearch, readRange } from './traces/range.ts';
import { readTraceListSearch } from './traces/search.ts';

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

/** Reads the search parameters of a page; without one it has none. */
type Reader<Search> = (raw: Record<string, unknown>) => Search;
type LazyPage = ReturnType<typeof lazyPage>;

function projectPage<Path extends string, Search extends object = object>(
  path: Path,
  component: LazyPage,
  validateSearch?: Reader<Search>,
) {
  return createRoute({
    getParentRoute: () => project,
    path,
    component,
    validateSearch: validateSearch as Reader<Search>,
  });
}

function organizationPage<Path extends string, Search extends object = object>(
  path: Path,
  component: LazyPage,
  validateSearch?: Reader<Search>,
) {
  return createRoute({
    getParentRoute: () => organization,
    path,
    component,
    validateSearch: validateSearch as Reader<Search>,
  });
}

type EventSearch = RangeSearch & { readonly type?: string; readonly event?: string };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const ofProject = project.addChildren([
  projectPage(
    'overview',
    lazyPage(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
    readOverviewSearch,
  ),
  projectPage(
    'traces',
    lazyPage(() => import('./traces/trace-list-page.tsx'), 'TraceListPage'),
    readTraceListSearch,
  ),
  projectPage(
    'traces/$traceId',
    lazyPage(() => import('./trace/trace-page.tsx'), 'TracePage'),
    readTraceSearch,
  ),
  projectPage(
    'threads',
    lazyPage(() => import('./threads/thread-list-page.tsx'), 'ThreadListPage'),
    readRange,
  ),
  projectPage(
    'threads/$threadId',
    lazyPage(() => import('./threads/thread-page.tsx'), 'ThreadPage'),
  ),
  projectPage(
    'users',
    lazyPage(() => import('./users/user-list-page.tsx'), 'UserListPage'),
    readRange,
  ),
  projectPage(
    'users/$userId',
    lazyPage(() => import('./users/user-page.tsx'), 'UserPage'),
    readRange,
  ),
  projectPage(
    'evaluators',
    lazyPage(() => import('./evaluators/evaluator-list-page.tsx'), 'EvaluatorListPage'),
  ),
  projectPage(
    'evaluators/new',
    lazyPage(() => import('./evaluators/new-evaluator-page.tsx'), 'NewEvaluatorPage'),
    ({ type }: Record<string, unknown>): { type?: string } => (typeof type === 'string' ? { type } : {}),
  ),
  projectPage(
    'evaluators/$evaluatorId',
    lazyPage(() => import('./evaluators/evaluator-page.tsx'), 'EvaluatorPage'),
    readEvaluatorSearch,
  ),
  projectPage(
    'monitors',
    lazyPage(() => import('./monitors/monitor-list-page.tsx'), 'MonitorListPage'),
    readRange,
  ),
  projectPage(
    'monitors/new',
    lazyPage(() => import('./monitors/new-monitor-page.tsx'), 'NewMonitorPage'),
    ({ evaluator }: Record<string, unknown>): { evaluator?: string } =>
      typeof evaluator === 'string' ? { evaluator } : {},
  ),
  projectPage(
    'monitors/$monitorId',
    lazyPage(() => import('./monitors/monitor-page.tsx'), 'MonitorPage'),
    readMonitorSearch,
  ),
  projectPage(
    'datasets',
    lazyPage(() => import('./datasets/dataset-list-page.tsx'), 'DatasetListPage'),
  ),
  projectPage(
    'datasets/$datasetId',
    lazyPage(() => import('./datasets/dataset-page.tsx'), 'DatasetPage'),
    readDatasetSearch,
  ),
  projectPage(
    'experiments',
    lazyPage(() => import('./experiments/experiment-list-page.tsx'), 'ExperimentListPage'),
  ),
  projectPage(
    'experiments/$experimentId',
    lazyPage(() => import('./experiments/experiment-page.tsx'), 'ExperimentPage'),
  ),
  projectPage(
    'experiments/$experimentId/runs/$runId',
    lazyPage(() => import('./experiments/run-page.tsx'), 'RunPage'),
    readRunSearch,
  ),
  projectPage(
    'settings',
    lazyPage(() => import('./settings/project-page.tsx'), 'ProjectPage'),
  ),
]);

const ofOrganization = organization.addChildren([
  organizationPage(
    'webhooks',
    lazyPage(() => import('./webhooks/webhook-list-page.tsx'), 'WebhookListPage'),
  ),
  organizationPage(
    'webhooks/$endpointId',
    lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
    (raw: Record<string, unknown>): { tab?: 'dead' | 'replay'; replay?: string } => ({
      ...((raw.tab === 'dead' || raw.tab === 'replay') && { tab: raw.tab }),
      ...(text(raw.replay) && { replay: String(raw.replay) }),
    }),
  ),
  organizationPage(
    'events',
    lazyPage(() => import('./events/events-page.tsx'), 'EventsPage'),
    (raw: Record<string, unknown>): EventSearch => ({
      ...readRange(raw),
      ...(text(raw.type) && { type: String(raw.type) }),
      ...(text(raw.event) && { event: String(raw.event) }),
    }),
  ),
  organizationPage(
    'keys',
    lazyPage(() => import('./keys/key-list-page.tsx'), 'KeyListPage'),
    (raw: Record<string, unknown>): { all?: true; revoked?: true } => ({
      ...(raw.all === true && { all: true as const }),
      ...(raw.revoked === true && { revoked: true as const }),
    }),
  ),
  organizationPage(
    'keys/new',
    lazyPage(() => import('./keys/new-key-page.tsx'), 'NewKeyPage'),
  ),
  organizationPage(
    'members',
    lazyPage(() => import('./organization/members-page.tsx'), 'MembersPage'),
  ),
  organizationPage(
    'projects',
    lazyPage(() => import('./organization/projects-page.tsx'), 'ProjectsPage'),
  ),
  organizationPage(
    'audit-log',
    lazyPage(() => import('./organization/audit-log-page.tsx'), 'AuditLogPage'),
    readAuditLogSearch,
  ),
  organizationPage(
    'spend',
    lazyPage(() => import('./spend/spend-page.tsx'), 'SpendPage'),
    readSpendSearch,
  ),
  organizationPage(
    'prices',
    lazyPage(() => import('./prices/prices-page.tsx'), 'PricesPage'),
    ({ model }: Record<string, unknown>): { model?: string } =>
      typeof model === 'string' && model !== '' ? { model } : {},
  ),
  organizationPage(
    'teams',
    lazyPage(() => import('./organization/teams-page.tsx'), 'TeamsPage'),
    ({ tab }: Record<string, unknown>): { tab?: 'roles' } => (tab === 'roles' ? { tab } : {}),
  ),
  organizationPage(
    'settings',
    lazyPage(() => import('./settings/organization-page.tsx'), 'OrganizationPage'),
  ),
]);

export const router = createRouter({
  routeTree: root.addChildren([home, ofOrganization, ofProject]),
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => (
    <div className={page.page}>
      <FailureNotice error={error} />
    </div>
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function Home() {
  const { account } = useSession();
  const [first] = account.projects;
  if (first) return <Navigate to="/$slug/traces" params={{ slug: first.slug }} replace />;
  return <NothingHere text="This key reaches no project." />;
}

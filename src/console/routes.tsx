/** The routes. The address holds all state of a page, so that it can be reloaded and shared. */

import { type AnyRoute, createRoute, createRouter, lazyRouteComponent, Navigate } from '@tanstack/react-router';
import type { FunctionComponent } from 'react';
import { readBudgetListSearch, readBudgetSearch } from './budgets/search.ts';
import { readDatasetSearch } from './datasets/search.ts';
import { Loading } from './design/button.tsx';
import { FailureNotice } from './design/failure.tsx';
import page from './design/page.module.css';
import { readEvaluatorSearch } from './evaluators/search.ts';
import { readRunSearch } from './experiments/search.ts';
import { flag, oneOf, type RawSearch, readerOf, text } from './layout/search.ts';
import { readMonitorSearch } from './monitors/search.ts';
import { readAuditLogSearch } from './organization/audit-log-search.ts';
import { readGroupSearch } from './overview/group-search.ts';
import { readOverviewSearch } from './overview/search.ts';
import { NothingHere, organization, project, root } from './parent-routes.tsx';
import { readPromptSearch } from './prompts/search.ts';
import { loadsPart } from './session/connection.ts';
import { useSession } from './session/session.tsx';
import { readSpendSearch } from './spend/search.ts';
import { readTraceSearch } from './trace/search.ts';
import { withKeptRange } from './traces/kept-range.ts';
import { rangeReaderOf, readRange } from './traces/range.ts';
import { readTraceListSearch } from './traces/search.ts';

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

/** Makes the routes below another route. Without `readSearch` a page has no search parameters. */
function pagesBelow<Parent extends AnyRoute>(parent: Parent) {
  return <Path extends string, Search extends object = object>(
    path: Path,
    load: () => Promise<{ readonly default: FunctionComponent }>,
    readSearch?: (raw: RawSearch) => Search,
  ) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      component: lazyRouteComponent(loadsPart(load)),
      validateSearch: readSearch as (raw: RawSearch) => Search,
    });
}

const projectPage = pagesBelow(project);
const organizationPage = pagesBelow(organization);

const ofProject = project.addChildren([
  projectPage('overview', () => import('./overview/overview-page.tsx'), withKeptRange(readOverviewSearch)),
  projectPage('dashboards', () => import('./dashboards/dashboard-list-page.tsx')),
  projectPage('dashboards/$dashboardId', () => import('./dashboards/dashboard-page.tsx'), withKeptRange(readRange)),
  projectPage('traces', () => import('./traces/trace-list-page.tsx'), withKeptRange(readTraceListSearch)),
  projectPage('traces/$traceId', () => import('./trace/trace-page.tsx'), readTraceSearch),
  projectPage('compare', () => import('./compare/compare-page.tsx'), readerOf({ a: text, b: text })),
  projectPage('threads', () => import('./threads/thread-list-page.tsx'), withKeptRange(readGroupSearch)),
  projectPage('threads/$threadId', () => import('./threads/thread-page.tsx'), readGroupSearch),
  projectPage('users', () => import('./users/user-list-page.tsx'), withKeptRange(readGroupSearch)),
  projectPage('users/$userId', () => import('./users/user-page.tsx'), withKeptRange(readGroupSearch)),
  projectPage('evaluators', () => import('./evaluators/evaluator-list-page.tsx')),
  projectPage('evaluators/new', () => import('./evaluators/new-evaluator-page.tsx'), readerOf({ type: text })),
  projectPage('evaluators/$evaluatorId', () => import('./evaluators/evaluator-page.tsx'), readEvaluatorSearch),
  projectPage('monitors', () => import('./monitors/monitor-list-page.tsx'), withKeptRange(readRange)),
  projectPage('monitors/new', () => import('./monitors/new-monitor-page.tsx'), readerOf({ evaluator: text })),
  projectPage('monitors/$monitorId', () => import('./monitors/monitor-page.tsx'), readMonitorSearch),
  projectPage('triggers', () => import('./triggers/trigger-list-page.tsx')),
  projectPage('triggers/new', () => import('./triggers/new-trigger-page.tsx'), readerOf({ q: text, metric: text })),
  projectPage('triggers/$triggerId', () => import('./triggers/trigger-page.tsx')),
  projectPage('prompts', () => import('./prompts/prompt-list-page.tsx')),
  projectPage('prompts/new', () => import('./prompts/new-prompt-page.tsx')),
  projectPage('prompts/$promptId', () => import('./prompts/prompt-page.tsx'), readPromptSearch),
  projectPage('datasets', () => import('./datasets/dataset-list-page.tsx')),
  projectPage('datasets/$datasetId', () => import('./datasets/dataset-page.tsx'), readDatasetSearch),
  projectPage('queues', () => import('./annotations/queue-list-page.tsx')),
  projectPage('queues/$queueId', () => import('./annotations/queue-page.tsx')),
  projectPage('experiments', () => import('./experiments/experiment-list-page.tsx')),
  projectPage('experiments/$experimentId', () => import('./experiments/experiment-page.tsx')),
  projectPage('experiments/$experimentId/runs/$runId', () => import('./experiments/run-page.tsx'), readRunSearch),
  projectPage('settings', () => import('./settings/project-page.tsx')),
]);

const readWebhookSearch = readerOf({ tab: oneOf('dead', 'replay'), replay: text });
const readEventSearch = rangeReaderOf({ type: text, event: text });
const readVirtualKeySearch = rangeReaderOf({ tab: oneOf('budgets', 'connect', 'settings') });
const readKeySearch = readerOf({ all: flag, revoked: flag });

const ofOrganization = organization.addChildren([
  organizationPage('webhooks', () => import('./webhooks/webhook-list-page.tsx')),
  organizationPage('webhooks/$endpointId', () => import('./webhooks/webhook-page.tsx'), readWebhookSearch),
  organizationPage('events', () => import('./events/events-page.tsx'), readEventSearch),
  organizationPage('keys', () => import('./keys/key-list-page.tsx'), readKeySearch),
  organizationPage('sessions', () => import('./session/session-list-page.tsx')),
  organizationPage('keys/new', () => import('./keys/new-key-page.tsx')),
  organizationPage('members', () => import('./organization/members-page.tsx')),
  organizationPage('projects', () => import('./organization/projects-page.tsx')),
  organizationPage('audit-log', () => import('./organization/audit-log-page.tsx'), readAuditLogSearch),
  organizationPage('model-providers', () => import('./model-providers/provider-list-page.tsx')),
  organizationPage('model-providers/new', () => import('./model-providers/new-provider-page.tsx')),
  organizationPage('model-providers/$providerId', () => import('./model-providers/provider-page.tsx')),
  organizationPage('virtual-keys', () => import('./virtual-keys/virtual-key-list-page.tsx')),
  organizationPage('virtual-keys/new', () => import('./virtual-keys/new-virtual-key-page.tsx')),
  organizationPage('virtual-keys/$keyId', () => import('./virtual-keys/virtual-key-page.tsx'), readVirtualKeySearch),
  organizationPage('budgets', () => import('./budgets/budget-list-page.tsx'), readBudgetListSearch),
  organizationPage('budgets/new', () => import('./budgets/new-budget-page.tsx'), readBudgetSearch),
  organizationPage('budgets/$budgetId', () => import('./budgets/budget-page.tsx')),
  organizationPage('spend', () => import('./spend/spend-page.tsx'), withKeptRange(readSpendSearch)),
  organizationPage('prices', () => import('./prices/prices-page.tsx'), readerOf({ model: text })),
  organizationPage('teams', () => import('./organization/teams-page.tsx'), readerOf({ tab: oneOf('roles') })),
  organizationPage('settings', () => import('./settings/organization-page.tsx')),
]);

export const router = createRouter({
  routeTree: root.addChildren([home, ofOrganization, ofProject]),
  defaultPreload: 'intent',
  // The page that is left stays until the next one can be shown.
  defaultPendingMs: Number.POSITIVE_INFINITY,
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => (
    <div className={page.page}>
      <FailureNotice error={error} retry={() => location.reload()} />
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
  return <NothingHere text="Your key has no access to any project." />;
}

/** The routes. The address holds all state of a page, so that it can be reloaded and shared. */

import { createRoute, createRouter, lazyRouteComponent, Navigate } from '@tanstack/react-router';
import { Loading } from './design/button.tsx';
import { FailureNotice } from './design/failure.tsx';
import page from './design/page.module.css';
import { evaluationRoutes } from './evaluation-routes.ts';
import { readAuditLogSearch } from './organization/audit-log-search.ts';
import { readOverviewSearch } from './overview/search.ts';
import { NothingHere, organization, project, root } from './parent-routes.tsx';
import { useSession } from './session/session.tsx';
import { readSpendSearch } from './spend/search.ts';
import { readTraceSearch } from './trace/search.ts';
import { type RangeSearch, readRange } from './traces/range.ts';
import { readTraceListSearch } from './traces/search.ts';

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

const traceListRoute = createRoute({
  getParentRoute: () => project,
  path: 'traces',
  validateSearch: readTraceListSearch,
  component: lazyRouteComponent(() => import('./traces/trace-list-page.tsx'), 'TraceListPage'),
});

const traceRoute = createRoute({
  getParentRoute: () => project,
  path: 'traces/$traceId',
  validateSearch: readTraceSearch,
  component: lazyRouteComponent(() => import('./trace/trace-page.tsx'), 'TracePage'),
});

const overviewRoute = createRoute({
  getParentRoute: () => project,
  path: 'overview',
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const threadListRoute = createRoute({
  getParentRoute: () => project,
  path: 'threads',
  validateSearch: readRange,
  component: lazyRouteComponent(() => import('./threads/thread-list-page.tsx'), 'ThreadListPage'),
});

const threadRoute = createRoute({
  getParentRoute: () => project,
  path: 'threads/$threadId',
  component: lazyRouteComponent(() => import('./threads/thread-page.tsx'), 'ThreadPage'),
});

const userListRoute = createRoute({
  getParentRoute: () => project,
  path: 'users',
  validateSearch: readRange,
  component: lazyRouteComponent(() => import('./users/user-list-page.tsx'), 'UserListPage'),
});

const userRoute = createRoute({
  getParentRoute: () => project,
  path: 'users/$userId',
  validateSearch: readRange,
  component: lazyRouteComponent(() => import('./users/user-page.tsx'), 'UserPage'),
});

const projectSettingsRoute = createRoute({
  getParentRoute: () => project,
  path: 'settings',
  component: lazyRouteComponent(() => import('./settings/project-page.tsx'), 'ProjectPage'),
});

const ofProject = project.addChildren([
  overviewRoute,
  traceListRoute,
  traceRoute,
  threadListRoute,
  threadRoute,
  userListRoute,
  userRoute,
  ...evaluationRoutes,
  projectSettingsRoute,
]);

type EventSearch = RangeSearch & { readonly type?: string; readonly event?: string };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const webhookListRoute = createRoute({
  getParentRoute: () => organization,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhook-list-page.tsx'), 'WebhookListPage'),
});

const webhookRoute = createRoute({
  getParentRoute: () => organization,
  path: 'webhooks/$endpointId',
  validateSearch: (raw: Record<string, unknown>): { tab?: 'dead' | 'replay'; replay?: string } => ({
    ...((raw.tab === 'dead' || raw.tab === 'replay') && { tab: raw.tab }),
    ...(text(raw.replay) && { replay: String(raw.replay) }),
  }),
  component: lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
});

const eventsRoute = createRoute({
  getParentRoute: () => organization,
  path: 'events',
  validateSearch: (raw: Record<string, unknown>): EventSearch => ({
    ...readRange(raw),
    ...(text(raw.type) && { type: String(raw.type) }),
    ...(text(raw.event) && { event: String(raw.event) }),
  }),
  component: lazyRouteComponent(() => import('./events/events-page.tsx'), 'EventsPage'),
});

const keyListRoute = createRoute({
  getParentRoute: () => organization,
  path: 'keys',
  validateSearch: (raw: Record<string, unknown>): { all?: true; revoked?: true } => ({
    ...(raw.all === true && { all: true as const }),
    ...(raw.revoked === true && { revoked: true as const }),
  }),
  component: lazyRouteComponent(() => import('./keys/key-list-page.tsx'), 'KeyListPage'),
});

const newKeyRoute = createRoute({
  getParentRoute: () => organization,
  path: 'keys/new',
  component: lazyRouteComponent(() => import('./keys/new-key-page.tsx'), 'NewKeyPage'),
});

const membersRoute = createRoute({
  getParentRoute: () => organization,
  path: 'members',
  component: lazyRouteComponent(() => import('./organization/members-page.tsx'), 'MembersPage'),
});

const projectsRoute = createRoute({
  getParentRoute: () => organization,
  path: 'projects',
  component: lazyRouteComponent(() => import('./organization/projects-page.tsx'), 'ProjectsPage'),
});

const auditLogRoute = createRoute({
  getParentRoute: () => organization,
  path: 'audit-log',
  validateSearch: readAuditLogSearch,
  component: lazyRouteComponent(() => import('./organization/audit-log-page.tsx'), 'AuditLogPage'),
});

const spendRoute = createRoute({
  getParentRoute: () => organization,
  path: 'spend',
  validateSearch: readSpendSearch,
  component: lazyRouteComponent(() => import('./spend/spend-page.tsx'), 'SpendPage'),
});

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

const ofOrganization = organization.addChildren([
  webhookListRoute,
  webhookRoute,
  eventsRoute,
  keyListRoute,
  newKeyRoute,
  membersRoute,
  projectsRoute,
  auditLogRoute,
  spendRoute,
  pricesRoute,
  teamsRoute,
  settingsRoute,
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

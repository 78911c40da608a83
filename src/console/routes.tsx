/** Which page an address shows. What is shown stands in the address, whole: it can be reloaded and sent to others. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import { Loading } from './design/button.tsx';
import { FailureNotice } from './design/failure.tsx';
import page from './design/page.module.css';
import { Shell } from './layout/shell.tsx';
import { ProjectScope, useSession } from './session/session.tsx';
import { readTraceSearch } from './trace/search.ts';
import { readTraceListSearch } from './traces/search.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: () => <NothingHere /> });

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

const project = createRoute({ getParentRoute: () => root, path: '/$slug', component: Project });

export const traceListRoute = createRoute({
  getParentRoute: () => project,
  path: 'traces',
  validateSearch: readTraceListSearch,
  component: lazyRouteComponent(() => import('./traces/trace-list-page.tsx'), 'TraceListPage'),
});

export const traceRoute = createRoute({
  getParentRoute: () => project,
  path: 'traces/$traceId',
  validateSearch: readTraceSearch,
  component: lazyRouteComponent(() => import('./trace/trace-page.tsx'), 'TracePage'),
});

export const router = createRouter({
  routeTree: root.addChildren([home, project.addChildren([traceListRoute, traceRoute])]),
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

function Project() {
  const { account } = useSession();
  const { slug } = project.useParams();
  const found = account.projects.find((each) => each.slug === slug);
  if (!found) return <NothingHere text="This key reaches no project of that name." />;
  return (
    <ProjectScope key={found.id} project={found}>
      <Outlet />
    </ProjectScope>
  );
}

function NothingHere({ text = 'There is no such page.' }: { readonly text?: string }) {
  return (
    <div className={page.empty}>
      <h1>Nothing here</h1>
      <p>{text}</p>
    </div>
  );
}

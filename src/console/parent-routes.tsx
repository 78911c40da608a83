/** The parent routes: the shell, a project, the organization. */

import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import page from './design/page.module.css';
import { Heading } from './design/page.tsx';
import { Shell } from './layout/shell.tsx';
import { ProjectScope, useSession } from './session/session.tsx';

export const root = createRootRoute({ component: Shell, notFoundComponent: () => <NothingHere /> });

export const project = createRoute({ getParentRoute: () => root, path: '/$slug', component: Project });

/** Pages of the organization; no project has this slug. */
export const organization = createRoute({ getParentRoute: () => root, path: '/-' });

function Project() {
  const { account } = useSession();
  const { slug } = project.useParams();
  const found = account.projects.find((each) => each.slug === slug);
  if (!found) return <NothingHere text="This project does not exist, or your key has no access to it." />;
  return (
    <ProjectScope key={found.id} project={found}>
      <Outlet />
    </ProjectScope>
  );
}

export function NothingHere({ text = 'This page does not exist.' }: { readonly text?: string }) {
  return (
    <div className={page.empty}>
      <Heading>Page not found</Heading>
      <p>{text}</p>
    </div>
  );
}

/** Links from what the metadata of a trace names. */

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLinkedProject, useMay } from '../session/session.tsx';

type UserLinkProps = { readonly user: string; readonly children: ReactNode };

/** The pages of users show analytics. */
export function UserLink({ user, children }: UserLinkProps) {
  const project = useLinkedProject();
  const may = useMay();
  if (project === null || !may('analytics:view')) return children;
  return (
    <Link to="/$slug/users/$userId" params={{ slug: project.slug, userId: user }} preload={false}>
      {children}
    </Link>
  );
}

type ThreadLinkProps = { readonly thread: string; readonly children: ReactNode };

export function ThreadLink({ thread, children }: ThreadLinkProps) {
  const project = useLinkedProject();
  if (project === null) return children;
  return (
    <Link to="/$slug/threads/$threadId" params={{ slug: project.slug, threadId: thread }} preload={false}>
      {children}
    </Link>
  );
}

/** Links from what the metadata of a trace names. */

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProject, useSession } from '../session/session.tsx';

type UserLinkProps = { readonly user: string; readonly children: ReactNode };

/** The pages of users show analytics. */
export function UserLink({ user, children }: UserLinkProps) {
  const { slug } = useProject();
  const { may } = useSession();
  if (!may('analytics:view')) return children;
  return (
    <Link to="/$slug/users/$userId" params={{ slug, userId: user }} preload={false}>
      {children}
    </Link>
  );
}

type ThreadLinkProps = { readonly thread: string; readonly children: ReactNode };

export function ThreadLink({ thread, children }: ThreadLinkProps) {
  const { slug } = useProject();
  return (
    <Link to="/$slug/threads/$threadId" params={{ slug, threadId: thread }} preload={false}>
      {children}
    </Link>
  );
}

/** The session of this browser, which all its tabs share: none, one being checked, or an account. */

import { TransportProvider } from '@connectrpc/connect-query';
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { Loading } from '../design/button.tsx';
import { FailureNotice, readFailure } from '../design/failure.tsx';
import {
  type Account,
  announceSession,
  beginSession,
  endSession,
  KEYS_SIGN_IN,
  openAccount,
  type ProjectRef,
  SIGN_IN_ISSUER,
  watchOtherTabs,
} from './account.ts';
import { watchAddressForKey } from './key.ts';
import { OfferedKey } from './offered-key.tsx';
import { SignIn } from './sign-in.tsx';
import { createKeyTransport, createTransport } from './transport.ts';

type Session = {
  readonly account: Account;
  may(permission: string): boolean;
  end(): void;
  /** Begins a session of the new token after a rotation of the key. */
  renew(token: string): void;
};

const ACCOUNT = 'account';
const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('there is no session here');
  return session;
}

/** What the reader may do: nothing on the page of a shared trace, which has no session. */
export function useMay(): Session['may'] {
  return useContext(SessionContext)?.may ?? mayNothing;
}

function mayNothing(): boolean {
  return false;
}

type SessionGateProps = {
  /** The key of the link that was opened; it counts only once the user agrees. */
  readonly offeredKey: string | null;
  readonly children: ReactNode;
};

/** Renders its children with a valid session, else the sign-in form, or the question whether to use the key of a link. */
export function SessionGate({ offeredKey, children }: SessionGateProps) {
  const [offered, setOffered] = useState(KEYS_SIGN_IN ? offeredKey : null);
  useEffect(() => watchAddressForKey((key) => KEYS_SIGN_IN && setOffered(key)), []);
  const client = useQueryClient();
  const transport = useMemo(() => createTransport(null), []);
  const shownId = useRef<string | null>(null);
  const account = useQuery({
    queryKey: [ACCOUNT],
    async queryFn() {
      const opened = await openAccount(transport);
      const id = typeof opened === 'object' ? opened.sessionId : null;
      // What was read with another session must not be shown with this one.
      if (id !== shownId.current) client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ACCOUNT });
      // The issuer leads back to a page that knows of no sign-in, but the other tabs must.
      if (shownId.current === null && id !== null && SIGN_IN_ISSUER !== null) announceSession();
      shownId.current = id;
      return opened;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { refetch } = account;
  useRefusals(client, () => void refetch());
  useOtherTabs(() => void refetch());
  const begin = useMutation({
    mutationFn: (key: string) => beginSession(createKeyTransport(key)),
    async onSuccess() {
      setOffered(null);
      await refetch();
      announceSession();
    },
    onError: () => setOffered(null),
  });
  const leave = useMutation({
    mutationFn: () => endSession(transport),
    async onSuccess() {
      await refetch();
      announceSession();
    },
  });
  const known = typeof account.data === 'object' ? account.data : null;
  useEffect(() => {
    // A link never replaces a session that is in use.
    if (known !== null && offered !== null) setOffered(null);
  }, [known, offered]);
  const [end, renew] = [leave.mutate, begin.mutate];
  const session = useMemo<Session | null>(() => {
    if (known === null) return null;
    return { account: known, end, renew, may: (permission) => known.permissions.has(permission) };
  }, [known, end, renew]);
  if (account.isPending || (begin.isPending && session === null)) return <Loading />;
  if (session === null && offered !== null) {
    return <OfferedKey token={offered} onAccept={() => begin.mutate(offered)} onRefuse={() => setOffered(null)} />;
  }
  if (session === null) {
    const hasEnded = account.data === 'ended' && !begin.isError;
    return <SignIn onKey={begin.mutate} error={begin.error ?? account.error} hasEnded={hasEnded} />;
  }
  return (
    <SessionContext value={session}>
      {leave.isError && <FailureNotice error={leave.error} retry={leave.mutate} />}
      {begin.isError && <FailureNotice error={begin.error} />}
      <TransportProvider key={session.account.sessionId} transport={transport}>
        {children}
      </TransportProvider>
    </SessionContext>
  );
}

function useOtherTabs(onChanged: () => void): void {
  const act = useRef(onChanged);
  useEffect(() => {
    act.current = onChanged;
  });
  useEffect(() => watchOtherTabs(() => act.current()), []);
}

const ENDED = new Set(['invalid_credentials', 'missing_credentials']);

/** A session can end at any time: a refused call makes the console check it. */
function useRefusals(client: QueryClient, onRefused: () => void): void {
  const act = useRef(onRefused);
  useEffect(() => {
    act.current = onRefused;
  });
  useEffect(() => {
    const check = (error: unknown) => {
      if (error && ENDED.has(readFailure(error).code ?? '')) act.current();
    };
    const stopQueries = client.getQueryCache().subscribe((event) => {
      if (event.type !== 'updated' || event.action.type !== 'error') return;
      if (event.query.queryKey[0] !== ACCOUNT) check(event.action.error);
    });
    const stopMutations = client.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error') check(event.action.error);
    });
    return () => {
      stopQueries();
      stopMutations();
    };
  }, [client]);
}

const ProjectContext = createContext<ProjectRef | null>(null);

/** The project that links lead into; null on the page of a shared trace, which has none. */
export function useLinkedProject(): ProjectRef | null {
  return useContext(ProjectContext);
}

export function useProject(): ProjectRef {
  const project = useLinkedProject();
  if (project === null) throw new Error('there is no project here');
  return project;
}

/** Its children call the api for this project. */
export function ProjectScope({ project, children }: { readonly project: ProjectRef; readonly children: ReactNode }) {
  const transport = useMemo(() => createTransport(project.id), [project.id]);
  return (
    <ProjectContext value={project}>
      <TransportProvider transport={transport}>{children}</TransportProvider>
    </ProjectContext>
  );
}

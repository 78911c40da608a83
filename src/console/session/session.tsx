/** The session of this tab: no key, a key being checked, or an account. */

import { Code, ConnectError } from '@connectrpc/connect';
import { TransportProvider } from '@connectrpc/connect-query';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { Loading } from '../design/button.tsx';
import { readFailure } from '../design/failure.tsx';
import { type Account, openAccount, type ProjectRef } from './account.ts';
import { forgetKey, keepKey, readKey, watchAddressForKey } from './key.ts';
import { OfferedKey } from './offered-key.tsx';
import { SignIn } from './sign-in.tsx';
import { createTransport } from './transport.ts';

type Session = {
  readonly account: Account;
  may(permission: string): boolean;
  end(): void;
  /** Replaces the token after a rotation of the key. */
  renew(token: string): void;
};

const ACCOUNT = 'account';
const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('there is no session here');
  return session;
}

type SessionGateProps = {
  /** The key of the link that was opened; it counts only once the user agrees. */
  readonly offeredKey: string | null;
  readonly children: ReactNode;
};

/** Renders its children with a valid key, else the sign-in form, or the question whether to use the key of a link. */
export function SessionGate({ offeredKey, children }: SessionGateProps) {
  const [offered, setOffered] = useState(offeredKey);
  useEffect(() => watchAddressForKey(setOffered), []);
  const [key, setKey] = useState(readKey);
  const client = useQueryClient();
  const transport = useMemo(() => createTransport(key ?? '', null), [key]);
  const account = useQuery({
    queryKey: [ACCOUNT, key],
    queryFn: () => openAccount(key ?? '', transport),
    enabled: key !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { refetch } = account;
  useRefusals(client, () => void refetch());
  const isRefused = account.isError && ConnectError.from(account.error).code === Code.Unauthenticated;
  const session = useMemo<Session | null>(() => {
    if (!account.data || isRefused) return null;
    const known = account.data;
    const end = () => {
      forgetKey();
      client.clear();
      setKey(null);
    };
    const renew = (token: string) => {
      keepKey(token);
      setKey(token);
    };
    const may = (permission: string) => known.permissions?.has(permission) ?? true;
    return { account: known, end, renew, may };
  }, [account.data, isRefused, client]);
  const signIn = (entered: string) => {
    setOffered(null);
    keepKey(entered);
    if (entered === key) void account.refetch();
    else setKey(entered);
  };
  if (key !== null && account.isPending) return <Loading />;
  if (session === null && offered !== null) {
    return <OfferedKey token={offered} onAccept={() => signIn(offered)} onRefuse={() => setOffered(null)} />;
  }
  if (session === null) return <SignIn onKey={signIn} error={account.error} />;
  return (
    <SessionContext value={session}>
      <TransportProvider transport={transport}>{children}</TransportProvider>
    </SessionContext>
  );
}

/** A key can end at any time: a refused call makes the session check it. */
function useRefusals(client: QueryClient, onRefused: () => void): void {
  const act = useRef(onRefused);
  useEffect(() => {
    act.current = onRefused;
  });
  useEffect(() => {
    const check = (error: unknown, isAccount: boolean) => {
      if (error && !isAccount && readFailure(error).code === 'invalid_credentials') act.current();
    };
    const stopQueries = client.getQueryCache().subscribe((event) => {
      if (event.type !== 'updated' || event.action.type !== 'error') return;
      check(event.action.error, event.query.queryKey[0] === ACCOUNT);
    });
    const stopMutations = client.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error') check(event.action.error, false);
    });
    return () => {
      stopQueries();
      stopMutations();
    };
  }, [client]);
}

const ProjectContext = createContext<ProjectRef | null>(null);

export function useProject(): ProjectRef {
  const project = useContext(ProjectContext);
  if (project === null) throw new Error('there is no project here');
  return project;
}

/** Its children call the api for this project. */
export function ProjectScope({ project, children }: { readonly project: ProjectRef; readonly children: ReactNode }) {
  const { account } = useSession();
  const transport = useMemo(() => createTransport(account.key, project.id), [account.key, project.id]);
  return (
    <ProjectContext value={project}>
      <TransportProvider transport={transport}>{children}</TransportProvider>
    </ProjectContext>
  );
}

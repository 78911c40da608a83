/** The account behind a session: its projects and permissions. */

import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { SessionService } from '../../../gen/spandrel/v1/sessions_pb.js';
import { readFailure } from '../design/failure.tsx';

export type ProjectRef = { readonly id: string; readonly slug: string; readonly name: string };

export type Account = {
  readonly sessionId: string;
  /** Null for a session of a project key, and of a person who signed in without a key. */
  readonly keyId: string | null;
  /** Whether a project key began the session: it reaches one project, and nothing of the organization. */
  readonly isOfProject: boolean;
  readonly projects: readonly ProjectRef[];
  readonly permissions: ReadonlySet<string>;
};

/** The host of the issuer through which people sign in; null: there is none. The page knows it before anybody is signed in. */
export const SIGN_IN_ISSUER = readMeta('spandrel-issuer');
/** Whether keys begin sessions. */
export const KEYS_SIGN_IN = readMeta('spandrel-key-sign-in') !== 'off';

function readMeta(name: string): string | null {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? null;
}

/** `none`: the browser has no session. `ended`: it has one that is no longer valid. */
export type NoAccount = 'none' | 'ended';

export async function openAccount(transport: Transport): Promise<Account | NoAccount> {
  const reached = await createClient(SessionService, transport).getSession({}).catch(whenRefused);
  if (typeof reached === 'string') return reached;
  if (!reached.session) return 'none';
  return {
    sessionId: reached.session.id,
    keyId: reached.apiKeyId ?? null,
    isOfProject: reached.session.projectId !== undefined,
    projects: reached.projects.map(({ id, slug, name }) => ({ id, slug, name: name === '' ? slug : name })),
    permissions: new Set(reached.effectivePermissions),
  };
}

/** Names what a key opens: the organization where the key may read it, else its project; null when it names neither. */
export async function readHome(transport: Transport): Promise<string | null> {
  const { organizationName, projects } = await createClient(SessionService, transport).getSession({});
  return organizationName ?? projects[0]?.name ?? null;
}

/** Begins the session of a key: the browser holds it in a cookie from then on. */
export async function beginSession(transport: Transport): Promise<void> {
  await createClient(SessionService, transport).createSession({});
}

/** A session that has ended already is not a failure. */
export async function endSession(transport: Transport): Promise<void> {
  await createClient(SessionService, transport).logout({}).catch(whenRefused);
}

function whenRefused(error: unknown): NoAccount {
  if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
  return readFailure(error).code === 'missing_credentials' ? 'none' : 'ended';
}

/** One for the tab: a channel does not hear itself. */
const tabs = new BroadcastChannel('spandrel.session');

/** Tells the other tabs of the browser that the session they share is another one, or ended. */
export function announceSession(): void {
  tabs.postMessage(null);
}

/** Returns what ends it. */
export function watchOtherTabs(onChanged: () => void): () => void {
  tabs.addEventListener('message', onChanged);
  return () => tabs.removeEventListener('message', onChanged);
}

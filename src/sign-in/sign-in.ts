/** Signs people in through an issuer: sends the browser there, and begins a session when it comes back. */

import { readCookie, sessionCookie } from '../auth/session-cookie.ts';
import type { Clock, RandomBytes } from '../domain/clock.ts';
import { Fault, unavailableFault } from '../domain/fault.ts';
import { type EncryptionKeys, openFor, sealFor } from '../domain/secrets.ts';
import type { Claims } from '../domain/sessions/claim-rules.ts';
import type { Visit } from '../domain/sessions/people.ts';
import type { NewSession } from '../domain/sessions/sessions.ts';
import { createSemaphore } from '../scheduling/semaphore.ts';
import { type Checks, type Issuer, redirectUriOf } from './issuer.ts';

/** A request of a browser. */
export type BrowserVisit = Pick<Visit, 'ip' | 'requestId' | 'traceId'> & {
  /** What the limits count by: an IPv4 address, or a /64 of IPv6; empty once the connection is gone. */
  readonly network: string;
  readonly query: string;
  readonly header: (name: string) => string | undefined;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
};

/** Where the browser goes next, with these cookies. */
export type Onward = { readonly location: string; readonly cookies: readonly string[] };

export type SignIn = ReturnType<typeof createSignIn>;

type SignInDeps = {
  readonly issuer: Pick<Issuer, 'signInUrl' | 'readClaims'>;
  readonly begin: (visit: Visit, claims: Claims) => Promise<NewSession>;
  /** False when the sign-in of this state came back before, to whichever process. */
  readonly claimOnce: (state: string, nowMs: number) => Promise<boolean>;
  readonly isConsolePage: (path: string) => boolean;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly encryptionKeys: EncryptionKeys;
  readonly random: RandomBytes;
  readonly clock: Clock;
  readonly onBug: (error: unknown) => void;
};

const ATTEMPT_COOKIE = 'spandrel_sign_in';
const ATTEMPT_MS = 600_000;
/** What the cookie is sealed for, so that no other sealed value passes as one. */
const BELONGS_TO = 'sign-in';
const RANDOM_BYTES = 32;
/** Strangers take these steps: each waits for the issuer, and networks take turns. */
const STEPS = { permitsMax: 64, ofOwnerMax: 16, waitingMax: 64, waitingOfOwnerMax: 16 };
/** The last states that came back to this process. */
const USED_STATES_MAX = 10_000;
const PATH_CHARACTERS_MAX = 2_048;

/** Throws sign_in_invalid, sign_in_refused and unavailable, whose messages are for people. */
export function createSignIn(deps: SignInDeps) {
  const redirectUri = redirectUriOf(deps.publicUrl);
  const logins = createSemaphore<string>(STEPS);
  const returns = createSemaphore<string>(STEPS);
  const usedStates = new Set<string>();

  async function limited<T>(steps: typeof logins, network: string, act: () => Promise<T>): Promise<T> {
    if ((await steps.acquire(network)) !== 'acquired') {
      throw unavailableFault('Too many people sign in at once. Try again.', 1);
    }
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Fault)) deps.onBug(error);
      throw error;
    } finally {
      steps.release(network);
    }
  }

  /**
   * Throws where the state came back to this process before. The store keeps it only once the issuer has vouched for a person:
   * strangers must not write.
   */
  function markUsed(state: string): void {
    if (usedStates.has(state)) throw invalid();
    const [oldest = ''] = usedStates;
    if (usedStates.size >= USED_STATES_MAX) usedStates.delete(oldest);
    usedStates.add(state);
  }

  return {
    /** Begins a sign-in: what it is recognised by goes to the issuer, and in a sealed cookie to the browser. */
    login: ({ query, isSecure, network }: BrowserVisit): Promise<Onward> =>
      limited(logins, network, async () => {
        const checks = { state: draw(deps), nonce: draw(deps), verifier: draw(deps) };
        const location = await deps.issuer.signInUrl(checks, redirectUri);
        const attempt = { ...checks, atMs: deps.clock(), returnTo: returnPath(deps, query) };
        const cookie = attemptCookie(seal(deps, attempt), { redirectUri, isSecure, maxAgeMs: ATTEMPT_MS });
        return { location: location.href, cookies: [cookie] };
      }),
    /** Ends it, once: with a session that is always a new one. */
    comeBack: (visit: BrowserVisit): Promise<Onward> =>
      limited(returns, visit.network, async () => {
        const { ip, requestId, traceId, header, query, isSecure } = visit;
        const nowMs = deps.clock();
        const attempt = readAttempt(deps, visit, nowMs);
        markUsed(attempt.state);
        const claims = await deps.issuer.readClaims(attempt, new URL(`?${query}`, redirectUri));
        if (!(await deps.claimOnce(attempt.state, nowMs))) throw invalid();
        const from = { ip, requestId, traceId, userAgent: header('user-agent') ?? null, nowMs };
        const { session, secret } = await deps.begin(from, claims);
        const maxAgeMs = session.expiresAtMs - session.createdAtMs;
        return {
          location: deps.publicUrl + attempt.returnTo,
          cookies: [
            sessionCookie(secret, { maxAgeMs, isSecure: isSecure || redirectUri.startsWith('https:') }),
            attemptCookie('', { redirectUri, isSecure, maxAgeMs: 0 }),
          ],
        };
      }),
  };
}

type Attempt = Checks & { readonly atMs: number; readonly returnTo: string };

function draw({ random }: Pick<SignInDeps, 'random'>): string {
  return random(RANDOM_BYTES).toString('base64url');
}

function seal({ encryptionKeys: keys, random }: SignInDeps, attempt: Attempt): string {
  return sealFor({ keys, belongsTo: BELONGS_TO }, Buffer.from(JSON.stringify(attempt)), random).toString('base64url');
}

/** The attempt that this browser began, whose state the issuer sent back. Throws sign_in_invalid. */
function readAttempt(deps: SignInDeps, { header, query }: BrowserVisit, nowMs: number): Attempt {
  const attempt = unseal(deps, readCookie(header('cookie') ?? '', ATTEMPT_COOKIE));
  if (attempt === null) throw invalid();
  const states = new URLSearchParams(query).getAll('state');
  const isOwn = states.length === 1 && states[0] === attempt.state;
  if (!isOwn || Math.abs(nowMs - attempt.atMs) >= ATTEMPT_MS) throw invalid();
  return attempt;
}

function unseal({ encryptionKeys: keys }: SignInDeps, cookie: string | null): Attempt | null {
  try {
    return cookie && JSON.parse(openFor({ keys, belongsTo: BELONGS_TO }, Buffer.from(cookie, 'base64url')).toString());
  } catch {
    // Somebody else wrote it, or it was sealed with another secret.
    return null;
  }
}

function invalid(): Fault {
  return new Fault('sign_in_invalid', 'This sign-in has ended, or began in another browser. Begin again.');
}

type CookieTerms = { readonly redirectUri: string; readonly isSecure: boolean; readonly maxAgeMs: number };

/** Lax, because the browser comes back from another site. */
function attemptCookie(value: string, { redirectUri, isSecure, maxAgeMs }: CookieTerms): string {
  const { protocol, pathname } = new URL(redirectUri);
  const attributes = ['HttpOnly', 'SameSite=Lax', `Path=${pathname}`];
  if (isSecure || protocol === 'https:') attributes.push('Secure');
  return [`${ATTEMPT_COOKIE}=${value}`, `Max-Age=${maxAgeMs / 1_000}`, ...attributes].join('; ');
}

const ANYWHERE = 'http://console.invalid';

/** A page of the console, and nothing else: the address may come from another site. */
function returnPath({ isConsolePage }: SignInDeps, query: string): string {
  const sent = new URLSearchParams(query).get('returnTo') ?? '/';
  const url = sent.length > PATH_CHARACTERS_MAX ? null : URL.parse(sent, ANYWHERE);
  if (url === null || url.origin !== ANYWHERE || url.pathname.startsWith('//')) return '/';
  return isConsolePage(url.pathname) ? url.pathname + url.search : '/';
}

/** The issuer of OpenID Connect: where it is, and what its tokens say. Every call of it has a limit of time and of bytes. */

import type { Configuration, CustomFetch, IDToken, UserInfoResponse } from 'openid-client';
import { Fault, unavailableFault } from '../domain/fault.ts';
import type { Claims } from '../domain/sessions/claim-rules.ts';

export type IssuerSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string;
  readonly roleClaim: string | null;
};

/** What one sign-in is recognised by when the browser comes back. */
export type Checks = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** Where the issuer sends people back to. `publicUrl` has no slash at its end. */
export function redirectUriOf(publicUrl: string): string {
  return `${publicUrl}/api/auth/callback`;
}

export type Issuer = ReturnType<typeof createIssuer>;

type IssuerDeps = {
  readonly settings: IssuerSettings;
  readonly monotonicMs: () => number;
  /** Takes why the issuer could not be asked, or what was wrong with its answer, at most once a second. */
  readonly onFailure: (reason: string) => void;
};

const CALL_MAX_SECONDS = 10;
const ANSWER_MAX_BYTES = 1_048_576;
/** How long what it says about itself holds; its keys are asked for again whenever one is unknown. */
const KNOWN_MS = 3_600_000;
/** How long a failed attempt stands, so that an issuer that is away is not asked for every visitor. */
const FAILED_MS = 2_000;
const REPORT_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;

/** Asks nothing of the issuer until it is needed. */
export function createIssuer({ settings, monotonicMs, onFailure }: IssuerDeps) {
  let known: { readonly configuration: Configuration; readonly atMs: number } | null = null;
  let failed: { readonly atMs: number } | null = null;
  let asking: Promise<void> | null = null;
  let reportedAtMs = Number.NEGATIVE_INFINITY;

  function report(error: unknown): void {
    if (monotonicMs() - reportedAtMs < REPORT_MS) return;
    reportedAtMs = monotonicMs();
    onFailure(reasonOf(error));
  }

  async function ask(): Promise<void> {
    try {
      known = { configuration: await discoverIssuer(settings), atMs: monotonicMs() };
      failed = null;
    } catch (error) {
      failed = { atMs: monotonicMs() };
      report(error);
    } finally {
      asking = null;
    }
  }

  /** What is known of it, even if it is away now. Throws unavailable where nothing is. */
  async function configured(): Promise<Configuration> {
    const isFresh = (atMs: number, forMs: number) => monotonicMs() - atMs < forMs;
    const isKnown = known !== null && isFresh(known.atMs, KNOWN_MS);
    if (!isKnown && !(failed !== null && isFresh(failed.atMs, FAILED_MS))) {
      asking ??= ask();
      await asking;
    }
    if (known === null) throw awayFault();
    return known.configuration;
  }

  return {
    /** Learns about it before the first visitor. Never fails. */
    warmUp: async () => void (await configured().catch(() => undefined)),
    /** Where the browser goes to sign in. Throws unavailable. */
    async signInUrl({ state, nonce, verifier }: Checks, redirectUri: string): Promise<URL> {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
      return buildAuthorizationUrl(await configured(), {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
    },
    /** Trades the code in the address that the browser came back to. Throws sign_in_invalid, sign_in_refused and unavailable. */
    async readClaims({ state, nonce, verifier }: Checks, cameBackTo: URL): Promise<Claims> {
      const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client');
      const configuration = await configured();
      try {
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        };
        const tokens = await authorizationCodeGrant(configuration, cameBackTo, checks);
        const token = tokens.claims();
        if (token === undefined) throw new Error('the issuer sent no id token');
        const isEnough = hasNeeded(token, settings);
        const isWhole = isEnough && token.email_verified !== undefined;
        if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) {
          return claimsOf(token, token, settings);
        }
        // Many issuers keep the profile out of the token.
        const asked = fetchUserInfo(configuration, tokens.access_token, token.sub);
        const info = isEnough ? await asked.catch(report) : await asked;
        return claimsOf(token, info === undefined ? token : joinProfile(token, info), settings);
      } catch (error) {
        report(error);
        throw faultOf(error);
      }
    },
  };
}

/** What the issuer says about itself. Rejects when it is away, or is another one. */
async function discoverIssuer(settings: Pick<IssuerSettings, 'issuer' | 'clientId' | 'clientSecret'>) {
  const oidc = await import('openid-client');
  const { issuer, clientId, clientSecret } = settings;
  const isPlain = new URL(issuer).protocol === 'http:';
  const configuration = await oidc.discovery(
    new URL(issuer),
    clientId,
    undefined,
    (as, ...call) => {
      const methods = as.token_endpoint_auth_methods_supported;
      const takesBasic = methods === undefined || methods.includes('client_secret_basic');
      const authenticate = takesBasic ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
      authenticate(clientSecret)(as, ...call);
    },
    {
      execute: [oidc.enableNonRepudiationChecks, ...(isPlain ? [oidc.allowInsecureRequests] : [])],
      timeout: CALL_MAX_SECONDS,
      [oidc.customFetch]: fetchBounded,
    },
  );
  const named = configuration.serverMetadata().issuer;
  // Tokens of every tenant would count as tokens of this issuer.
  if (named.includes('{'))
    throw new Error(`${named} stands for several issuers: name one, such as that of your tenant`);
  configuration.timeout = CALL_MAX_SECONDS;
  configuration[oidc.customFetch] = fetchBounded;
  return configuration;
}

/** Follows no redirects, and reads no more than the limit. */
const fetchBounded: CustomFetch = async (url, { body, ...options }) => {
  const answer = await fetch(url, { ...options, body: body ?? null, redirect: 'manual' });
  const { status, headers } = answer;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error(`the issuer sent more than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
};

/** What the store keeps and finds again. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

type Profile = IDToken | (IDToken & UserInfoResponse);

/** Whether the token says all that no setting can say instead: whether the address is verified may be one. */
function hasNeeded(token: IDToken, { roleClaim }: IssuerSettings): boolean {
  return token.email !== undefined && (roleClaim === null || token[roleClaim] !== undefined);
}

/** The token comes first. Whether an address is verified is said by whoever names the address. */
function joinProfile(token: IDToken, info: UserInfoResponse): Profile {
  const { email_verified: ofInfo, ...profile } = info;
  const { email_verified: ofToken, ...claims } = token;
  const verified = token.email === undefined ? ofInfo : (ofToken ?? (token.email === info.email ? ofInfo : undefined));
  return { ...profile, ...claims, ...(verified !== undefined && { email_verified: verified }) };
}

function claimsOf({ iss, sub }: IDToken, profile: Profile, { roleClaim }: IssuerSettings): Claims {
  const { email, email_verified: verified, name } = profile;
  if (!SUBJECT.test(sub)) throw new Error('the subject of the token is not a text of 1 to 255 characters');
  return {
    issuer: iss,
    subject: sub,
    email: typeof email === 'string' ? email : null,
    // Some issuers write it as text.
    isEmailVerified: verified === undefined ? null : verified === true || verified === 'true',
    name: typeof name === 'string' ? name : null,
    groups: roleClaim === null ? [] : [profile[roleClaim]].flat().filter((group) => typeof group === 'string'),
  };
}

/** Without what the answer held, which may be about a person. */
function reasonOf(error: unknown): string {
  const { code, error: reason, error_description: description, cause } = error as { [member: string]: unknown };
  const message = error instanceof Error ? error.message : String(error);
  const below = cause instanceof Error ? cause.message : null;
  return [message, below, code, reason, description].filter((part) => typeof part === 'string').join('; ');
}

const SERVER_ERROR_MIN = 500;

function faultOf(error: unknown): Fault {
  const { name, code, error: reason, cause, ...others } = error as { [member: string]: unknown };
  // An answer that is not of OAuth is known by its cause alone.
  const status = cause instanceof Response ? cause.status : others.status;
  if (name === 'AuthorizationResponseError') {
    const isOwn = reason === 'access_denied' || reason === 'login_required' || reason === 'consent_required';
    return isOwn
      ? new Fault('sign_in_refused', 'The issuer did not let you in.', { cause: error })
      : invalidFault(error);
  }
  const isAway = code === 'OAUTH_TIMEOUT' || (typeof status === 'number' && status >= SERVER_ERROR_MIN);
  if (isAway || (error instanceof TypeError && error.message === 'fetch failed')) return awayFault(error);
  return invalidFault(error);
}

/** Says no more: what was wrong is for the log. */
function invalidFault(cause: unknown): Fault {
  return new Fault('sign_in_invalid', 'What the issuer sent is not valid for this sign-in. Begin again.', { cause });
}

function awayFault(cause?: unknown): Fault {
  const fault = unavailableFault('The issuer cannot be reached now. Try again in a moment.', RETRY_AFTER_SECONDS);
  return cause === undefined ? fault : Object.assign(fault, { cause });
}

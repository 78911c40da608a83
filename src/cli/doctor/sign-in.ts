/** Looks at the issuer through which people sign in, as a server with these settings would use it. */

import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import { createIssuer, redirectUriOf } from '../../sign-in/issuer.ts';
import { type Finding, findingsAbout, reasonOf } from './finding.ts';
import { statusOf } from './network.ts';

const REFUSED_MIN = 400;
const VERIFIER_BYTES = 32;

export async function checkSignIn({ signIn: { oidc }, publicUrl }: Config): Promise<readonly Finding[]> {
  const about = findingsAbout('sign-in');
  if (oidc === null || publicUrl === null)
    return [about.ok('SPANDREL_OIDC_ISSUER is not set: people sign in with keys')];
  const reasons: string[] = [];
  const issuer = createIssuer({
    settings: oidc,
    monotonicMs: () => performance.now(),
    onFailure: (reason) => reasons.push(reason),
  });
  const redirectUri = redirectUriOf(publicUrl);
  const checks = { state: 'doctor', nonce: 'doctor', verifier: randomBytes(VERIFIER_BYTES).toString('base64url') };
  try {
    const url = await issuer.signInUrl(checks, redirectUri);
    return [
      about.ok(`${oidc.issuer} answers, and names itself so`),
      await checkRedirect(url.href, { issuer: oidc.issuer, redirectUri }),
    ];
  } catch (error) {
    const reason = reasons[0] ?? reasonOf(error);
    const advice = 'correct SPANDREL_OIDC_ISSUER, or let this machine reach it';
    return [about.fail(`${oidc.issuer} does not answer as that issuer (${reason}): ${advice}`)];
  }
}

/** Asks for the page on which people sign in: an issuer refuses it for an address that it does not know. */
async function checkRedirect(
  url: string,
  { issuer, redirectUri }: { readonly issuer: string; readonly redirectUri: string },
): Promise<Finding> {
  const about = findingsAbout('sign-in');
  if (redirectUri.startsWith('http:') && new URL(issuer).protocol === 'https:') {
    return about.warn(`people come back to ${redirectUri} without TLS: set SPANDREL_PUBLIC_URL to an https address`);
  }
  const status = await statusOf(url, {}).catch(reasonOf);
  if (typeof status === 'number' && status < REFUSED_MIN) return about.ok(`people come back to ${redirectUri}`);
  const advice = `register ${redirectUri} for the client there, and compare SPANDREL_OIDC_CLIENT_ID`;
  return about.warn(`the issuer does not show its sign-in page (${status}): ${advice}`);
}

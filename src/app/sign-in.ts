/** Wires what people sign in with: the sessions of browsers, and the issuer. */

import { SessionService } from '../../gen/spandrel/v1/sessions_pb.js';
import { claimState, signPersonIn } from '../domain/sessions/people.ts';
import { createSessions } from '../domain/sessions/sessions.ts';
import type { Method } from '../rpc/method.ts';
import { createSessionRpc } from '../rpc/sessions/sessions.ts';
import { createIssuer } from '../sign-in/issuer.ts';
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts';
import { findConsolePage } from '../transport/rest/console-pages.ts';
import type { SignInWays } from '../transport/rest/pages.ts';
import type { Deps } from './deps.ts';
import type { ServiceParts } from './service-parts.ts';

export function compileSessions(
  { store: { management: store }, random, rootKeys: { pepper }, retentionNowMs, config }: Deps,
  { cursors, compile }: ServiceParts,
): Method[] {
  const { byKey } = config.signIn;
  const sessions = createSessions({ store, random, cursors, pepper, retentionNowMs, byKey });
  return compile(SessionService, createSessionRpc({ sessions }));
}

export function createSignInWays(deps: Deps): SignInWays {
  const { byKey, oidc } = deps.config.signIn;
  // A gateway serves no people, and asks nothing of the issuer.
  const steps = deps.config.role === 'all' ? createOidc(deps) : null;
  return { byKey, oidc: oidc && steps && { host: new URL(oidc.issuer).host, steps } };
}

/** Null where the settings name no issuer. */
function createOidc({ config, store, rootKeys, random, clock, retentionNowMs, log }: Deps): SignIn | null {
  const { oidc } = config.signIn;
  const { publicUrl } = config;
  if (oidc === null || publicUrl === null) return null;
  const { management } = store;
  const { pepper, encryptionKeys } = rootKeys;
  const means = { store: management, random, pepper, retentionNowMs };
  const people = { ...means, rules: oidc, limits: config.limits.organization };
  const issuer = createIssuer({
    settings: oidc,
    monotonicMs: () => performance.now(),
    onFailure: (reason) => log.warn({ reason }, 'the issuer of sign-ins could not be asked, or its answer was refused'),
  });
  void issuer.warmUp();
  return createSignIn({
    ...{ issuer, publicUrl, encryptionKeys, random, clock },
    begin: (visit, claims) => signPersonIn(people, visit, claims),
    claimOnce: (state, nowMs) => claimState(means, state, nowMs),
    isConsolePage: (path) => !path.startsWith('/assets/') && findConsolePage(path) !== null,
    onBug: (error) => log.error({ err: error }, 'a sign-in failed'),
  });
}

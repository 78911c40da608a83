/**
 * Browsers remember only Basic credentials and send them by themselves, even with a form that a foreign page submits.
 * So Basic is refused for a request that a form could have sent and that names a foreign origin. It is harmless beside
 * an X-Auth-Token, which takes precedence and which no form sends.
 */

import { Fault } from '../domain/fault.ts';
import type { HeaderReader } from './credential.ts';

/** Headers that neither a form nor a proxy adds. */
const CUSTOM_HEADERS = ['x-auth-token', 'x-project-id', 'idempotency-key', 'x-requested-with'];
/** Media types of forms, and of scripts without a preflight. */
const FORM_MEDIA_TYPES: ReadonlySet<string> = new Set([
  '',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]);

/** Throws origin_not_allowed for a request that a foreign page could cause. `ownOrigins` are whole origins. */
export function requireOwnOrigin(header: HeaderReader, ownOrigins: () => readonly string[]): void {
  const origin = header('origin');
  if (origin === undefined || !/^\s*basic\s/i.test(header('authorization') ?? '')) return;
  if (!couldBeForm(header) || isHost(origin, header('host') ?? header(':authority'))) return;
  if (ownOrigins().includes(origin)) return;
  throw new Fault(
    'origin_not_allowed',
    'A page of another origin cannot use Basic credentials; send the token in X-Auth-Token.',
  );
}

function couldBeForm(header: HeaderReader): boolean {
  const [mediaType = ''] = (header('content-type') ?? '').split(';', 1);
  return (
    FORM_MEDIA_TYPES.has(mediaType.trim().toLowerCase()) && CUSTOM_HEADERS.every((name) => header(name) === undefined)
  );
}

/** Whether the origin is the host of the request. Ignores the scheme, because a proxy may have ended TLS. */
export function isHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  return named !== '' && URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === named;
}

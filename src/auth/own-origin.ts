/**
 * Basic credentials are the only ones a browser remembers and sends by itself, also for a form that a page of somebody
 * else submits. So they do not suffice for a request that a form could have made and that names a foreign origin. Beside
 * an X-Auth-Token, which counts before them and which no form sends, they matter to nobody.
 */

import { Fault } from '../domain/fault.ts';
import type { HeaderReader } from './credential.ts';

/** Headers that no form sends, and that nothing between browser and server adds. */
const CUSTOM_HEADERS = ['x-auth-token', 'x-project-id', 'idempotency-key', 'x-requested-with'];
/** All that a form can send, and a script without asking first. */
const FORM_MEDIA_TYPES: ReadonlySet<string> = new Set([
  '',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]);

/** Throws origin_not_allowed for what a page of a foreign origin could make a browser send. `ownOrigins` are whole origins. */
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

/** Whether the origin is where the request was sent to. A proxy may have ended TLS, so the scheme does not tell. */
function isHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  return named !== '' && URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === named;
}

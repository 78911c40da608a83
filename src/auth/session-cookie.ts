/**
 * The cookie of a session, and when it counts. Browsers send cookies by themselves, so it counts only for a request that the
 * console itself made: no form can send the header that is required here, and a script of another origin cannot either,
 * since no preflight allows it credentials.
 */

import type { HeaderReader } from './credential.ts';
import { isHost } from './own-origin.ts';

const SESSION_COOKIE = 'spandrel_session';
const CONSOLE_HEADER = 'x-spandrel-console';

/** The secret of the session that the request may use; null where there is none. */
export function readSession(header: HeaderReader, publicOrigin: string | null): string | null {
  if (header(CONSOLE_HEADER)?.trim() !== '1') return null;
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return null;
  const origin = header('origin');
  const isOwn =
    origin === undefined || origin === publicOrigin || isHost(origin, header('host') ?? header(':authority'));
  return isOwn ? readCookie(header('cookie') ?? '', SESSION_COOKIE) : null;
}

/**
 * The value of a cookie; null also for several different values: a page of a neighbouring domain can add a cookie of its own, and which of them
 * comes first is not to decide who the user is.
 */
export function readCookie(text: string, wanted: string): string | null {
  const values = new Set<string>();
  for (const pair of text.split(';')) {
    const [name, ...rest] = pair.split('=');
    const value = rest.join('=').trim();
    if (name?.trim() === wanted && value !== '') values.add(value);
  }
  const [only] = values;
  return values.size === 1 && only !== undefined ? only : null;
}

/** The header that gives the browser the cookie; an empty secret takes it away. */
export function sessionCookie(secret: string, { maxAgeMs, isSecure }: { maxAgeMs: number; isSecure: boolean }): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1_000));
  const attributes = ['HttpOnly', 'SameSite=Strict', 'Path=/', ...(isSecure ? ['Secure'] : [])];
  return [`${SESSION_COOKIE}=${secret}`, `Max-Age=${seconds}`, ...attributes].join('; ');
}

/** The routes of a sign-in through an issuer. People see them, so a refusal is a page with a sentence. */

import type { Fault } from '../../domain/fault.ts';
import { toFault } from '../../rpc/invoke.ts';
import { errorMetadata, statusOf } from '../status.ts';
import type { Page, PageVisit } from './page.ts';
import { escapeHtml, STATIC_PAGE_HEADERS } from './record-pages.ts';

type Visit = Pick<PageVisit, 'query' | 'header' | 'isSecure'> & {
  readonly network: string;
  readonly ip: string | null;
  readonly requestId: string;
  readonly traceId: string | null;
};
type Step = (visit: Visit) => Promise<{ readonly location: string; readonly cookies: readonly string[] }>;

/** Each step returns where the browser goes next, or throws a Fault. */
export type SignInSteps = { readonly login: Step; readonly comeBack: Step };

/** By path. */
export function createSignInPages({
  login,
  comeBack,
}: SignInSteps): ReadonlyMap<string, (visit: PageVisit) => Promise<Page>> {
  return new Map([
    ['/api/auth/login', takeStep(login)],
    ['/api/auth/callback', takeStep(comeBack)],
  ]);
}

function takeStep(step: Step): (visit: PageVisit) => Promise<Page> {
  return async ({ ids, remoteAddress, network, query, header, isSecure }) => {
    const { requestId, traceId } = ids;
    try {
      const origin = { ip: remoteAddress, requestId, traceId: traceId === '' ? null : traceId };
      const { location, cookies } = await step({ query, header, isSecure, network: network ?? '', ...origin });
      const headers = { ...STATIC_PAGE_HEADERS, location, 'set-cookie': [...cookies] };
      return { status: 303, mediaType: HTML, headers, body: '' };
    } catch (error) {
      const fault = toFault(error);
      const headers = { ...STATIC_PAGE_HEADERS, ...errorMetadata(fault) };
      return { status: statusOf(fault, 'flat'), mediaType: HTML, headers, body: write(fault, requestId), fault };
    }
  };
}

const HTML = 'text/html; charset=utf-8';

function write({ message }: Fault, requestId: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Spandrel: not signed in</title>
<h1>You are not signed in</h1>
<p>${escapeHtml(message)}</p>
<p>Request <code>${escapeHtml(requestId)}</code></p>
<p><a href="../../">Back to the sign-in page</a></p>
</html>
`;
}

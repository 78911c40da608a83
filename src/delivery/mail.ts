/** Sends e-mails through the mail server of the installation, whose address the policy of webhooks checks each time. */

import { mailTargetOf, type ResolveHost, type UrlPolicy } from '../domain/endpoints/url-policy.ts';
import type { OutgoingMail } from '../domain/triggers/messages.ts';
import type { Attempted } from '../domain/triggers/notifying.ts';
import { CONNECT_FAILED, DNS_FAILED } from './failure.ts';
import { URL_REFUSED } from './http-verdict.ts';

/** A mail server, and the address that mails come from. */
export type MailServer = { readonly url: string; readonly from: string };

type MailDeps = { readonly server: MailServer; readonly policy: UrlPolicy; readonly resolve: ResolveHost };

const RESOLVE_MS = 5_000;
const CONNECT_MS = 5_000;
const IDLE_MS = 10_000;
const DEADLINE_MS = 30_000;
const PERMANENT = 500;

export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<Attempted>;

/** One connection for each mail: there are at most a hundred an hour for each trigger. */
export function createMailSender({ server, policy, resolve }: MailDeps): SendMail {
  const target = mailTargetOf(server.url);
  return async (mail, signal) => {
    const addresses = target.isLiteral ? [target.host] : await resolve(target.host, RESOLVE_MS).catch(() => []);
    const [address] = addresses;
    if (address === undefined) return refused(DNS_FAILED.error);
    if (!policy.mayReach(target, addresses)) return refused(URL_REFUSED.error);
    const { createTransport } = await import('nodemailer');
    const url = new URL(server.url);
    const user = decodeURIComponent(url.username);
    const transport = createTransport({
      // The address that was checked; the certificate is still that of the name.
      host: address,
      port: target.port,
      secure: target.secure,
      // A password never goes over a connection that anyone may read.
      requireTLS: user !== '',
      ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
      ...(target.isLiteral ? {} : { tls: { servername: target.host } }),
      ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
    const stop = () => transport.close();
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
    deadline.addEventListener('abort', stop, { once: true });
    try {
      await untilAborted(transport.sendMail(messageOf(mail, server)), deadline);
      return { kind: 'sent' };
    } catch (error) {
      return verdictOf(error);
    } finally {
      deadline.removeEventListener('abort', stop);
      transport.close();
    }
  };
}

function messageOf({ id, to, subject, text }: OutgoingMail, { from }: MailServer) {
  const domain = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
  // Equal for all attempts, so that mail servers and readers recognise one that they have.
  return {
    from,
    to: [...to],
    subject,
    text,
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new Error('timeout'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The words of the server may name addresses and secrets, and stay out of the error. */
function verdictOf(error: unknown): Attempted {
  const code = responseCodeOf(error);
  if (code === null)
    return refused(error instanceof Error && error.message === 'timeout' ? 'timeout' : CONNECT_FAILED.error);
  return { ...refused(`SMTP ${code}`), isFinal: code >= PERMANENT };
}

function responseCodeOf(error: unknown): number | null {
  const code = typeof error === 'object' && error !== null && 'responseCode' in error ? error.responseCode : null;
  return typeof code === 'number' ? code : null;
}

function refused(error: string) {
  return { kind: 'refused', error, isFinal: false, retryAfterMs: null } as const;
}

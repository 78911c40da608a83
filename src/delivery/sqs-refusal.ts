/** What a failed attempt at a queue is called, without showing what belongs to somebody. */

import { type AttemptResult, UNRESOLVED_ERROR } from '../domain/destination.ts';
import { cutToCharacters } from '../domain/text-limits.ts';

export type QueueRefusal = Pick<
  Extract<AttemptResult, { kind: 'refused' }>,
  'kind' | 'error' | 'terminalHint' | 'isOurs'
>;

const ERROR_CHARACTERS_MAX = 500;

/** Lower case, without what the protocols put around a name: "AWS.SimpleQueueService." before it, "Exception" after. */
const LASTING = new Set([
  'nonexistentqueue',
  'queuedoesnotexist',
  'accessdenied',
  'authorizationerror',
  'invalidclienttokenid',
  'unrecognizedclient',
  'signaturedoesnotmatch',
  'invalidaddress',
  'invalidparametervalue',
  'missingparameter',
  'unsupportedoperation',
  'invalidsecurity',
  'kmsaccessdenied',
  'kmsnotfound',
  'kmsdisabled',
  'kmsinvalidstate',
]);

/** After one of these the same credentials will do no better. */
const OF_CREDENTIALS = new Set([
  'accessdenied',
  'authfailure',
  'authorizationerror',
  'credentialsprovidererror',
  'expiredtoken',
  'incompletesignature',
  'invalidaccesskeyid',
  'invalidclienttokenid',
  'invalidsecurity',
  'invalidsignature',
  'missingauthenticationtoken',
  'optinrequired',
  'requestexpired',
  'signaturedoesnotmatch',
  'tokenrefreshrequired',
  'unrecognizedclient',
]);

/** This process has run out of something. */
const OURS = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL']);
const UNREACHED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EACCES', 'EPERM']);
const RESET = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);
const NAME_NOT_FOUND = /^(ENOTFOUND|ENODATA|ESERVFAIL|EAI_.*)$/;
const CERTIFICATE = /CERT|^UNABLE_TO_|^ERR_TLS_|^INVALID_CA$|^HOSTNAME_MISMATCH$/;
const TLS = /^(EPROTO$|ERR_SSL_)/;
const UNREADABLE = /^HPE_/;

/** Shapes of keys, tokens and signatures: those of this process itself are not known here. */
const SECRET_SHAPES = /\b(?:Credential|Signature)=\S+|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|[A-Za-z0-9/+]{40,}=*/g;
const ADDRESSES = /\bhttps?:\/\/\S+/g;
const MASK = '***';
/** What is shorter is no key of Amazon's, and would only make words unreadable. */
const HIDDEN_MIN_LENGTH = 4;

/** What the SDK throws, as far as it is looked at. */
type Thrown = {
  readonly name: string;
  readonly message: string;
  /** Of the operating system, of TLS or of the parser; empty when the service itself answered. */
  readonly code: string;
  readonly status: number | null;
};

/** An attempt that is not made, for a reason that lasts until somebody changes something. */
export function policyRefusal(name: string, detail: string): QueueRefusal {
  return refuse(`${name}: ${detail}`, { terminalHint: true });
}

/** `hidden`: what must not show up in the text. */
export function describeRefusal(error: unknown, hidden: readonly string[]): QueueRefusal {
  const thrown = readThrown(error);
  return transportRefusal(thrown) ?? answerRefusal(thrown, hidden);
}

/** Whether the credentials of the attempt should not be used again. */
export function isCredentialFault(error: unknown): boolean {
  const { name, code, status } = readThrown(error);
  return code === '' && (status === 401 || status === 403 || OF_CREDENTIALS.has(plainName(name)));
}

function readThrown(error: unknown): Thrown {
  const { name, message, code, $metadata, $fault } = (error ?? {}) as { readonly [field: string]: unknown };
  const status = ($metadata as { readonly httpStatusCode?: unknown } | undefined)?.httpStatusCode;
  return {
    name: typeof name === 'string' ? name : '',
    message: typeof message === 'string' ? message : '',
    // An answer has codes of its own, which mean the same as its name.
    code: typeof code === 'string' && $fault === undefined ? code : '',
    status: typeof status === 'number' ? status : null,
  };
}

/** Null when the other side answered, or the SDK gave up before it sent anything. */
function transportRefusal({ name, code }: Thrown): QueueRefusal | null {
  if (OURS.has(code)) return refuse('connect_failed', { isOurs: true });
  if (UNREACHED.has(code)) return refuse('connect_failed');
  if (RESET.has(code)) return refuse('connection_reset');
  if (NAME_NOT_FOUND.test(code)) return refuse(UNRESOLVED_ERROR);
  if (CERTIFICATE.test(code)) return refuse(`tls_failed: ${code}`, { terminalHint: true });
  if (TLS.test(code)) return refuse(`tls_failed: ${code}`);
  if (UNREADABLE.test(code) || name === 'SyntaxError') return refuse('bad_response');
  if (code === 'ETIMEDOUT' || name === 'TimeoutError' || name === 'AbortError') return refuse('timeout');
  return null;
}

function answerRefusal({ name, message }: Thrown, hidden: readonly string[]): QueueRefusal {
  const plain = plainName(name);
  const title = name.replace(/^AWS\.SimpleQueueService\./, '') || 'Error';
  // Below its first line an answer may tell the request as it was signed, headers included.
  const [detail = ''] = message.split('\n', 1);
  return refuse(mask(`${title}: ${detail}`, hidden), { terminalHint: LASTING.has(plain) });
}

function plainName(name: string): string {
  return name
    .replace(/^AWS\.SimpleQueueService\./, '')
    .replace(/Exception$/, '')
    .replaceAll('.', '')
    .toLowerCase();
}

function mask(text: string, hidden: readonly string[]): string {
  // The longest first: of one that contains another nothing may be left over.
  const known = hidden.filter((secret) => secret.length >= HIDDEN_MIN_LENGTH).sort((a, b) => b.length - a.length);
  return known
    .reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
    .replace(ADDRESSES, MASK)
    .replace(SECRET_SHAPES, MASK);
}

function refuse(
  error: string,
  { terminalHint = false, isOurs = false }: Partial<Pick<QueueRefusal, 'terminalHint' | 'isOurs'>> = {},
): QueueRefusal {
  return { kind: 'refused', error: cutToCharacters(error, ERROR_CHARACTERS_MAX), terminalHint, isOurs };
}

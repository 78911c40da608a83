/** Describes failed attempts at queues without showing secrets. */

import { cutToCharacters } from '../domain/text-limits.ts';
import {
  BAD_RESPONSE,
  CONNECT_FAILED,
  CONNECTION_RESET,
  DNS_FAILED,
  type Failure,
  failure,
  LOCAL_CODES,
  NO_SOCKET,
  TIMEOUT,
} from './failure.ts';

const ERROR_CHARACTERS_MAX = 500;

/** Names in lower case, without the prefix "AWS.SimpleQueueService." and the suffix "Exception" of the protocols. */
const TERMINAL_NAMES = new Set([
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

/** Errors after which the same credentials will fail again. */
const CREDENTIAL_NAMES = new Set([
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

const UNREACHED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EACCES', 'EPERM']);
const RESET = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);
const NAME_NOT_FOUND = /^(ENOTFOUND|ENODATA|ESERVFAIL|EAI_.*)$/;
const CERTIFICATE = /CERT|^UNABLE_TO_|^ERR_TLS_|^INVALID_CA$|^HOSTNAME_MISMATCH$/;
const TLS = /^(EPROTO$|ERR_SSL_)/;
const UNREADABLE = /^HPE_/;

/** Patterns of keys, tokens and signatures: the secrets of this process's own credentials are not known here. */
const SECRET_SHAPES = /\b(?:Credential|Signature)=\S+|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|[A-Za-z0-9/+]{40,}=*/g;
const ADDRESSES = /\bhttps?:\/\/\S+/g;
const MASK = '***';
/** Shorter texts are not AWS keys, and masking them would make messages unreadable. */
const HIDDEN_MIN_LENGTH = 4;

/** The parts of an SDK error that matter here. */
type Thrown = {
  readonly name: string;
  readonly message: string;
  /** The code of the operating system, of TLS or of the parser; empty when the service answered. */
  readonly code: string;
  readonly status: number | null;
};

/** The refusal of an attempt that is not made, for a reason that lasts until the configuration changes. */
export function policyRefusal(name: string, detail: string): Failure {
  return refuse(`${name}: ${detail}`, true);
}

/** `hidden`: secrets to mask in the text. */
export function describeRefusal(error: unknown, hidden: readonly string[]): Failure {
  const thrown = readThrown(error);
  return transportRefusal(thrown) ?? answerRefusal(thrown, hidden);
}

/** Whether the credentials of the attempt must be fetched again. */
export function isCredentialFault(error: unknown): boolean {
  const { name, code, status } = readThrown(error);
  return code === '' && (status === 401 || status === 403 || CREDENTIAL_NAMES.has(plainName(name)));
}

function readThrown(error: unknown): Thrown {
  const { name, message, code, $metadata, $fault } = (error ?? {}) as { readonly [field: string]: unknown };
  const status = ($metadata as { readonly httpStatusCode?: unknown } | undefined)?.httpStatusCode;
  return {
    name: typeof name === 'string' ? name : '',
    message: typeof message === 'string' ? message : '',
    // The code of a response repeats its name.
    code: typeof code === 'string' && $fault === undefined ? code : '',
    status: typeof status === 'number' ? status : null,
  };
}

/** Null when the service answered, or the SDK failed before it sent anything. */
function transportRefusal({ name, code }: Thrown): Failure | null {
  if (LOCAL_CODES.has(code)) return NO_SOCKET;
  if (UNREACHED.has(code)) return CONNECT_FAILED;
  if (RESET.has(code)) return CONNECTION_RESET;
  if (NAME_NOT_FOUND.test(code)) return DNS_FAILED;
  if (CERTIFICATE.test(code)) return refuse(`tls_failed: ${code}`, true);
  if (TLS.test(code)) return refuse(`tls_failed: ${code}`, false);
  if (UNREADABLE.test(code) || name === 'SyntaxError') return BAD_RESPONSE;
  if (code === 'ETIMEDOUT' || name === 'TimeoutError' || name === 'AbortError') return TIMEOUT;
  return null;
}

function answerRefusal({ name, message }: Thrown, hidden: readonly string[]): Failure {
  const plain = plainName(name);
  const title = name.replace(/^AWS\.SimpleQueueService\./, '') || 'Error';
  // After the first line a response may repeat the signed request with its headers.
  const [detail = ''] = message.split('\n', 1);
  return refuse(mask(`${title}: ${detail}`, hidden), TERMINAL_NAMES.has(plain));
}

function plainName(name: string): string {
  return name
    .replace(/^AWS\.SimpleQueueService\./, '')
    .replace(/Exception$/, '')
    .replaceAll('.', '')
    .toLowerCase();
}

function mask(text: string, hidden: readonly string[]): string {
  // The longest first, so that a secret that contains another one is masked completely.
  const known = hidden.filter((secret) => secret.length >= HIDDEN_MIN_LENGTH).sort((a, b) => b.length - a.length);
  return known
    .reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
    .replace(ADDRESSES, MASK)
    .replace(SECRET_SHAPES, MASK);
}

function refuse(error: string, terminalHint: boolean): Failure {
  return failure(cutToCharacters(error, ERROR_CHARACTERS_MAX), { terminalHint });
}

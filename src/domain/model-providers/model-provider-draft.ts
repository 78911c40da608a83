/** The fields of a model provider as a request sends them, and the problems that show without stored data. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isObject } from '../../json/lossless-json.ts';
import { REASONS_MAX, type Reason } from '../fault.ts';
import { customReason, lengthReason, typeReason } from '../reasons.ts';
import { parseToken } from '../secrets.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { isVirtualKeyShape } from '../virtual-keys/virtual-key-secret.ts';
import { DEFAULT_BASE_URLS, type ModelProviderKind, type NamedTexts, needsApiKey } from './model-provider.ts';

/** A model provider as sent. Undefined: not sent; null: sent as null. */
export type ModelProviderDraft = {
  readonly name?: string | null | undefined;
  readonly kind?: ModelProviderKind | undefined;
  readonly baseUrl?: string | null | undefined;
  readonly apiKey?: string | null | undefined;
  readonly apiVersion?: string | null | undefined;
  readonly extraHeadersJson?: string | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly aliasesJson?: string | null | undefined;
  readonly timeoutMs?: number | null | undefined;
  readonly projectIds?: readonly string[] | null | undefined;
  readonly streamUsage?: boolean | null | undefined;
  readonly enabled?: boolean | null | undefined;
};

/** Whether a text holds a credential of this installation. */
export type IsOwnToken = (text: string) => boolean;

type Prefixes = { readonly keyPrefixes: readonly string[]; readonly virtualKeyPrefix: string };

export function createTokenCheck({ keyPrefixes, virtualKeyPrefix }: Prefixes): IsOwnToken {
  return (text) =>
    text.split(/\s+/).some((word) => {
      const parsed = parseToken(word, keyPrefixes);
      const isMinted = parsed?.kind === 'apiKey' || parsed?.minted === true;
      return isMinted || isVirtualKeyShape(word, virtualKeyPrefix);
    });
}

const HEADERS_MAX = 16;
const HEADER_CHARACTERS_MAX = 1_024;
const ALIASES_MAX = 200;
const MODEL_CHARACTERS_MAX = 256;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const HEADER_TEXT = /^[\x20-\x7E]*$/;
/** Headers that the gateway sets itself, with its own credential or for its own connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-auth-token', 'cookie', 'set-cookie'],
  ...['host', 'content-length', 'content-type', 'content-encoding', 'accept-encoding', 'transfer-encoding'],
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'expect', 'traceparent'],
]);

/** All problems of a new provider. */
export function creationProblems(draft: ModelProviderDraft, isOwnToken: IsOwnToken): readonly Reason[] {
  const { kind } = draft;
  const found: Reason[] = [];
  if (kind !== undefined) {
    if (draft.baseUrl == null && DEFAULT_BASE_URLS[kind] === null) {
      found.push(typeReason('base_url', 'string', 'undefined'));
    }
    if (draft.apiKey == null && needsApiKey(kind)) found.push(typeReason('api_key', 'string', 'undefined'));
    found.push(...versionProblems(kind, draft.apiVersion ?? null));
  }
  return [...found, ...changeProblems(draft, isOwnToken)];
}

/** All problems of a change that show without the stored provider. */
export function changeProblems(draft: ModelProviderDraft, isOwnToken: IsOwnToken): readonly Reason[] {
  const found: Reason[] = [];
  if (draft.name === null) found.push(typeReason('name', 'string', 'null'));
  if (draft.name?.trim() === '') found.push(lengthReason('name', '1 to 128 characters that are not all blank'));
  if (draft.timeoutMs === null) found.push(typeReason('timeout_ms', 'integer', 'null'));
  if (draft.streamUsage === null) found.push(typeReason('stream_usage', 'boolean', 'null'));
  if (draft.enabled === null) found.push(typeReason('enabled', 'boolean', 'null'));
  found.push(...urlProblems(draft.baseUrl ?? null));
  found.push(...headerProblems(draft.extraHeadersJson, isOwnToken), ...aliasProblems(draft.aliasesJson));
  return found;
}

/** The problem of a version of the API where the kind has none. */
export function versionProblems(kind: ModelProviderKind, apiVersion: string | null): readonly Reason[] {
  if (apiVersion === null || kind === 'azure_openai') return [];
  return [customReason('api_version', 'api_version can only be set when kind is azure_openai')];
}

/** Only for JSON without problems. */
export function readNamedTexts(json: string): NamedTexts {
  return textsIn(json) ?? {};
}

/** The policy of addresses judges the rest. */
function urlProblems(baseUrl: string | null): readonly Reason[] {
  if (baseUrl === null || !URL.canParse(baseUrl)) return [];
  const { search, hash } = new URL(baseUrl);
  return search === '' && hash === '' ? [] : [customReason('base_url', 'base_url must end before ? and #')];
}

function headerProblems(json: string | null | undefined, isOwnToken: IsOwnToken): readonly Reason[] {
  const field = 'extra_headers';
  const headers = readObject(json);
  if (headers === undefined) return [];
  if (headers === null) return [notTexts(field)];
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) return [lengthReason(field, `at most ${HEADERS_MAX} members`)];
  return entries.flatMap(([name, text]) => {
    if (!HEADER_NAME.test(name)) return [customReason(field, `${field} must have names of headers as its names`)];
    if (OWN_HEADERS.has(name.toLowerCase())) {
      return [customReason(field, `${field} must not hold ${name.toLowerCase()}, which the gateway sets`)];
    }
    if (!HEADER_TEXT.test(text) || hasMoreCharactersThan(text, HEADER_CHARACTERS_MAX)) {
      return [lengthReason(field, `texts of at most ${HEADER_CHARACTERS_MAX} printable characters of ASCII`)];
    }
    return isOwnToken(text) ? [customReason(field, `${field} must not hold a key of this server`)] : [];
  });
}

function aliasProblems(json: string | null | undefined): readonly Reason[] {
  const field = 'aliases';
  const aliases = readObject(json);
  if (aliases === undefined) return [];
  if (aliases === null) return [notTexts(field)];
  const entries = Object.entries(aliases);
  if (entries.length > ALIASES_MAX) return [lengthReason(field, `at most ${ALIASES_MAX} members`)];
  const isName = (name: string) => name !== '' && !hasMoreCharactersThan(name, MODEL_CHARACTERS_MAX);
  const isWrong = entries.some(([name, model]) => !isName(name) || !isName(model) || `${name}${model}`.includes('\0'));
  return isWrong ? [lengthReason(field, `names of 1 to ${MODEL_CHARACTERS_MAX} characters`)] : [];
}

/** Undefined: not sent; null: no object of texts. */
function readObject(json: string | null | undefined): NamedTexts | null | undefined {
  if (json === undefined) return undefined;
  return json === null ? null : textsIn(json);
}

function textsIn(json: string): NamedTexts | null {
  const parsed = parseLossless(json, { depth: 2, members: REASONS_MAX * HEADER_CHARACTERS_MAX });
  if (parsed.kind !== 'value' || !isObject(parsed.value)) return null;
  const entries = Object.entries(parsed.value);
  const isText = entries.every(([, value]) => typeof value === 'string');
  return isText ? (Object.fromEntries(entries) as NamedTexts) : null;
}

function notTexts(field: string): Reason {
  return { ...typeReason(field, 'object', 'null'), message: `${field} must be an object of texts` };
}

/** Asks model providers for their models: at addresses that the policy allows, with limits on time and size. */

import { type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { isIPv6 } from 'node:net';
import type { ResolveHost, UrlPolicy } from '../domain/endpoints/url-policy.ts';
import type { ListModels, ModelListing, ModelSource } from '../domain/model-providers/model-providers.ts';

type ListModelsDeps = {
  readonly policy: UrlPolicy;
  readonly resolve: ResolveHost;
  readonly userAgent: string;
  /** The time of one listing; 15 seconds by default. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 15_000;
const RESOLVE_TIMEOUT_MS = 5_000;
const RESPONSE_MAX_BYTES = 4 * 1024 * 1024;
const MODELS_MAX = 1_000;
const MODEL_CHARACTERS_MAX = 256;
/** Asked for by every request; later versions only add to it. */
const ANTHROPIC_VERSION = '2023-06-01';

export function createListModels({ policy, resolve, userAgent, timeoutMs = TIMEOUT_MS }: ListModelsDeps): ListModels {
  return async (source) => {
    const url = urlOf(source);
    const check = policy.checkUrl(url);
    if (check.kind === 'refused') return failed(`The base_url is not allowed. ${check.message}`);
    const { target } = check;
    const addresses = target.isLiteral
      ? [target.host]
      : await resolve(target.host, RESOLVE_TIMEOUT_MS).catch((): readonly string[] => []);
    if (addresses.length === 0) return failed('The host name of the base_url does not resolve.');
    if (!policy.mayReach(target, addresses)) {
      return failed('The host of the base_url has an address that is not allowed.');
    }
    const answer = await exchange(url, { addresses, headers: headersOf(source, userAgent), timeoutMs });
    return answer.kind === 'failed' ? answer : readListing(answer);
  };
}

function urlOf({ baseUrl, apiVersion }: ModelSource): string {
  const query = apiVersion === null ? '' : `?api-version=${encodeURIComponent(apiVersion)}`;
  return `${baseUrl}/models${query}`;
}

function headersOf({ kind, apiKey, extraHeaders }: ModelSource, userAgent: string): Record<string, string> {
  return {
    ...extraHeaders,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
    ...(kind === 'anthropic' && { 'anthropic-version': ANTHROPIC_VERSION }),
    ...(apiKey !== null && credentialOf(kind, apiKey)),
  };
}

function credentialOf(kind: ModelSource['kind'], apiKey: string): Record<string, string> {
  if (kind === 'anthropic') return { 'x-api-key': apiKey };
  return kind === 'azure_openai' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

type Answered = { readonly kind: 'answered'; readonly status: number; readonly text: string };
type Failed = Extract<ModelListing, { kind: 'failed' }>;

type Exchange = {
  /** Those that were checked; the connection goes to no other. */
  readonly addresses: readonly string[];
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
};

function exchange(url: string, { addresses, headers, timeoutMs }: Exchange): Promise<Answered | Failed> {
  const { promise, resolve } = Promise.withResolvers<Answered | Failed>();
  const options: RequestOptions = { headers, agent: false, lookup: pinnedTo(addresses), rejectUnauthorized: true };
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const sent = send(url, options);
  const settle = (outcome: Answered | Failed) => {
    clearTimeout(timer);
    resolve(outcome);
    sent.destroy();
  };
  const timer = setTimeout(() => settle(failed(`The provider did not answer within ${timeoutMs} ms.`)), timeoutMs);
  sent.on('error', (error) => settle(failed(reasonOf(error))));
  sent.on('response', (response) => void readAnswer(response).then(settle));
  sent.end();
  return promise;
}

/** Redirects are answers like any other: the key is sent to this address only. */
async function readAnswer(response: IncomingMessage): Promise<Answered | Failed> {
  const status = response.statusCode ?? 0;
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > RESPONSE_MAX_BYTES) return failed(`The answer is larger than ${RESPONSE_MAX_BYTES} bytes.`, status);
      parts.push(part);
    }
  } catch {
    return failed('The connection broke before the answer was complete.', status);
  }
  return { kind: 'answered', status, text: Buffer.concat(parts).toString('utf8') };
}

/** Resolves every name to the addresses that were checked. */
function pinnedTo(addresses: readonly string[]): NonNullable<RequestOptions['lookup']> {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, callback) => {
    const [first = { address: '', family: 4 }] = all;
    if (options.all) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

/** Says nothing of the body of a refusal: it may repeat the key. */
function readListing({ status, text }: Answered): ModelListing {
  if (status === 401 || status === 403) {
    return failed(`The provider answered ${status}: it does not accept the API key.`, status);
  }
  if (status >= 300 && status < 400) return failed(`The provider answered ${status}, which is not followed.`, status);
  if (status === 404)
    return failed('The provider answered 404: check the base_url, to which /models is added.', status);
  if (status !== 200) return failed(`The provider answered ${status}.`, status);
  const models = readModels(text);
  return models === null
    ? failed('The answer is not a list of models.', status)
    : { kind: 'listed', httpStatus: status, models };
}

/** The ids in the list that the APIs of OpenAI and Anthropic have in common; null: it is not a list. */
function readModels(text: string): readonly string[] | null {
  const items = membersOf(parse(text), 'data');
  if (!Array.isArray(items)) return null;
  const ids = items.map((item: unknown) => membersOf(item, 'id'));
  const isModel = (id: unknown): id is string => typeof id === 'string' && id.length <= MODEL_CHARACTERS_MAX;
  return ids.filter(isModel).slice(0, MODELS_MAX);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function membersOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function failed(error: string, httpStatus: number | null = null): Failed {
  return { kind: 'failed', httpStatus, error };
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The provider refuses the connection.',
  ECONNRESET: 'The connection broke before the answer was complete.',
  EHOSTUNREACH: 'The provider cannot be reached.',
  ENETUNREACH: 'The provider cannot be reached.',
  ETIMEDOUT: 'The provider cannot be reached.',
  CERT_HAS_EXPIRED: 'The certificate of the provider has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the provider is for another host.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the provider is not trusted.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the provider is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate of the provider is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the provider is not trusted.',
};

/** Messages of Node hold addresses, which callers may not see. */
function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASONS[code] ?? 'The connection to the provider failed.';
}

/** Which headers pass between a caller and a provider. */

import type { ModelProviderRecord } from '../domain/model-providers/model-provider.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Those of one connection (RFC 9110, 7.6.1), and those that describe a body which is sent anew. */
const OF_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'expect', 'host', 'content-length', 'http2-settings'],
];

/** Credentials, what tells of the network of the caller, and what the gateway reads itself. */
const OF_CALLER = new Set([
  ...OF_CONNECTION,
  ...['authorization', 'x-api-key', 'api-key', 'cookie', 'accept-encoding', 'content-encoding', 'content-type'],
  // Clients of LangWatch send their key of this server by these, too.
  ...['x-auth-token', 'x-project-id', 'x-goog-api-key', 'ocp-apim-subscription-key'],
  ...['traceparent', 'tracestate', 'baggage', 'b3', 'sentry-trace', 'x-amzn-trace-id', 'x-cloud-trace-context'],
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'origin', 'referer', 'x-litellm-end-user-id'],
]);
const OF_CALLER_PREFIXES = ['x-langwatch-', 'x-forwarded-', 'x-spandrel-', 'x-b3-', 'x-datadog-', 'cf-', 'sec-', ':'];

/** What the provider says of itself, or of an exchange that is not the caller's. */
const OF_PROVIDER = new Set([
  ...OF_CONNECTION,
  ...['set-cookie', 'alt-svc', 'strict-transport-security', 'server', 'www-authenticate', 'date'],
  ...['location', 'refresh', 'link', 'clear-site-data'],
]);
const OF_PROVIDER_PREFIXES = ['access-control-', 'x-langwatch-', 'cross-origin-', 'cf-', 'report-', 'nel'];

/** Asked for by every request; later versions only add to it. */
const ANTHROPIC_VERSION = '2023-06-01';

type Provider = Pick<ModelProviderRecord, 'kind' | 'extraHeaders'>;

/** `apiKey`: opened; null: the provider needs none. */
export function headersToProvider(headers: Headers, provider: Provider, apiKey: string | null): Record<string, string> {
  const passed = pass(headers, OF_CALLER, OF_CALLER_PREFIXES);
  return {
    ...(provider.kind === 'anthropic' && { 'anthropic-version': ANTHROPIC_VERSION }),
    ...passed,
    ...lowerCased(provider.extraHeaders),
    'accept-encoding': 'identity',
    ...(apiKey !== null && credentialOf(provider.kind, apiKey)),
  };
}

export function headersToCaller(headers: Headers): Record<string, string> {
  return pass(headers, OF_PROVIDER, OF_PROVIDER_PREFIXES);
}

function credentialOf(kind: ModelProviderRecord['kind'], apiKey: string): Record<string, string> {
  if (kind === 'anthropic') return { 'x-api-key': apiKey };
  return kind === 'azure_openai' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

function pass(headers: Headers, names: ReadonlySet<string>, prefixes: readonly string[]): Record<string, string> {
  // A connection header names further headers of its connection.
  const named = new Set(
    textOf(headers.connection ?? '')
      .toLowerCase()
      .split(/\s*,\s*/),
  );
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || names.has(name) || named.has(name)) continue;
    if (!prefixes.some((prefix) => name.startsWith(prefix))) passed[name] = textOf(value);
  }
  return passed;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}

/** The routes that take a virtual key, and what each asks of a provider. */

import type { Dialect, RouteKind } from '../domain/gateway/dialects/dialect.ts';
import type { ModelProviderKind } from '../domain/model-providers/model-provider.ts';

/** A route that a provider serves. */
export type BodyRoute = { readonly kind: RouteKind; readonly dialect: Dialect; readonly path: string };

export type DataRoute =
  | BodyRoute
  | { readonly kind: 'models' | 'me'; readonly dialect: Dialect }
  /** A path of an API whose method or state is not served; the message says so. */
  | { readonly kind: 'unserved'; readonly dialect: Dialect; readonly httpStatus: 404 | 405; readonly message: string };

const POSTS: Readonly<Record<string, BodyRoute>> = {
  '/v1/chat/completions': { kind: 'chat', dialect: 'openai', path: '/chat/completions' },
  '/v1/responses': { kind: 'responses', dialect: 'openai', path: '/responses' },
  '/v1/embeddings': { kind: 'embeddings', dialect: 'openai', path: '/embeddings' },
  '/v1/messages': { kind: 'messages', dialect: 'anthropic', path: '/messages' },
  '/v1/messages/count_tokens': { kind: 'count_tokens', dialect: 'anthropic', path: '/messages/count_tokens' },
};

const STORED_RESPONSE = /^\/v1\/responses\/[^/]+(\/(cancel|input_items))?$/;

/** Null: the path belongs to others. */
export function routeOf(method: string, path: string): DataRoute | null {
  const post = Object.hasOwn(POSTS, path) ? POSTS[path] : undefined;
  if (post !== undefined) return method === 'POST' ? post : unserved(post.dialect, 405, 'The method must be POST.');
  if (path === '/v1/models' || path === '/v1/me') {
    if (method !== 'GET' && method !== 'HEAD') return unserved('openai', 405, 'The method must be GET.');
    return { kind: path === '/v1/me' ? 'me' : 'models', dialect: 'openai' };
  }
  if (!STORED_RESPONSE.test(path)) return null;
  return unserved('openai', 404, 'Responses are stored at their provider, and cannot be read or changed here.');
}

function unserved(dialect: Dialect, httpStatus: 404 | 405, message: string): DataRoute {
  return { kind: 'unserved', dialect, httpStatus, message };
}

type Provider = {
  readonly kind: ModelProviderKind;
  readonly baseUrl: string;
  readonly apiVersion: string | null;
};

/** Where a provider serves a path of its API. */
export function urlOf({ kind, baseUrl, apiVersion }: Provider, { path, query, model }: Asked): string {
  const base = kind === 'azure_openai' && isResource(baseUrl) ? deploymentOf(baseUrl, model) : baseUrl;
  const version = apiVersion === null ? '' : `api-version=${encodeURIComponent(apiVersion)}`;
  const queries = [query, version].filter((each) => each !== '').join('&');
  return base + path + (queries === '' ? '' : `?${queries}`);
}

type Asked = { readonly path: string; readonly query: string; readonly model: string };

/** Azure serves a model at the path of its deployment, unless the base URL has one or is that of its newer API. */
function isResource(baseUrl: string): boolean {
  return !baseUrl.includes('/deployments/') && !baseUrl.endsWith('/v1');
}

function deploymentOf(baseUrl: string, model: string): string {
  return `${baseUrl}/deployments/${encodeURIComponent(model)}`;
}

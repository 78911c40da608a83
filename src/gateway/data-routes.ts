/** The routes that take a virtual key, and what each asks of a provider. */

import type { Dialect, RouteKind } from '../domain/gateway/dialects/dialect.ts';
import type { ModelProviderKind } from '../domain/model-providers/model-provider.ts';

/** A route that a provider serves. */
export type BodyRoute = { readonly kind: RouteKind; readonly dialect: Dialect; readonly path: string };

export type DataRoute = {
  /** For metrics and logs: of paths that callers make up there are few. */
  readonly template: string;
} & (
  | BodyRoute
  | { readonly kind: 'models' | 'me'; readonly dialect: Dialect }
  /** OPTIONS of a path that takes `allow`. */
  | { readonly kind: 'options'; readonly dialect: Dialect; readonly allow: string }
  /** A path of an API whose method or state is not served; the message says so. */
  | {
      readonly kind: 'unserved';
      readonly dialect: Dialect;
      readonly httpStatus: 404 | 405;
      readonly message: string;
      /** The methods of the path. */
      readonly allow: string | null;
    }
);

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
  if (post !== undefined) {
    const { dialect } = post;
    return { template: path, ...(method === 'POST' ? post : otherMethod({ method, dialect, allow: 'POST' })) };
  }
  if (path === '/v1/models' || path === '/v1/me') {
    const dialect = 'openai';
    if (method === 'GET' || method === 'HEAD') {
      return { template: path, kind: path === '/v1/me' ? 'me' : 'models', dialect };
    }
    return { template: path, ...otherMethod({ method, dialect, allow: 'GET, HEAD' }) };
  }
  if (!STORED_RESPONSE.test(path)) return null;
  const message = 'Responses are stored at their provider, and cannot be read or changed here.';
  return { template: '/v1/responses/{id}', kind: 'unserved', dialect: 'openai', httpStatus: 404, message, allow: null };
}

type OtherMethod = { readonly method: string; readonly dialect: Dialect; readonly allow: string };

function otherMethod({ method, dialect, allow }: OtherMethod) {
  if (method === 'OPTIONS') return { kind: 'options', dialect, allow } as const;
  const message = `This path takes only ${allow}.`;
  return { kind: 'unserved', dialect, httpStatus: 405, message, allow } as const;
}

type Provider = {
  readonly kind: ModelProviderKind;
  readonly baseUrl: string;
  readonly apiVersion: string | null;
};

/** Where a provider serves a path of its API. */
export function urlOf({ kind, baseUrl, apiVersion }: Provider, { path, query, model }: Asked): string {
  const isDeployed = model !== null && kind === 'azure_openai' && isResource(baseUrl);
  const base = isDeployed ? deploymentOf(baseUrl, model) : baseUrl;
  const passed = query.split('&').filter((part) => apiVersion === null || !VERSION.test(part));
  const version = apiVersion === null ? '' : `api-version=${encodeURIComponent(apiVersion)}`;
  const queries = [...passed.map(encodeUnsafe), version].filter((each) => each !== '').join('&');
  return base + path + (queries === '' ? '' : `?${queries}`);
}

/** The version that the provider was set up with counts. */
const VERSION = /^api(-|%2d)version(=|$)/i;

/** What would end the query, or make the URL one that the address policy refuses: the caller writes it. */
function encodeUnsafe(text: string): string {
  return text.toWellFormed().replace(/[^\x21\x22\x24-\x5b\x5d-\x7e]/gu, encodeURIComponent);
}

/** `model`: null where none is asked. */
type Asked = { readonly path: string; readonly query: string; readonly model: string | null };

/** Azure serves a model at the path of its deployment, unless the base URL has one or is that of its newer API. */
function isResource(baseUrl: string): boolean {
  return !baseUrl.includes('/deployments/') && !baseUrl.endsWith('/v1');
}

/** A model that a URL would read as a step in its path has no deployment. */
function deploymentOf(baseUrl: string, model: string): string {
  const name = /^\.{1,2}$/.test(model) ? `${model}_` : model;
  return `${baseUrl}/deployments/${encodeURIComponent(name)}`;
}

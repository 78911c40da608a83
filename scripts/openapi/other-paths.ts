/** Paths without an rpc, and answers to requests that match no route. */

import type { Schema } from './schemas.ts';

export const OTHER_TAG = { name: 'Server', description: 'How the process is doing, and this document.' };

const STATUS_PAGE = page('application/json', {
  type: 'object',
  properties: { status: { type: 'string' } },
  required: ['status'],
});
const TEXT = { type: 'string' };

export const OTHER_PATHS: { readonly [path: string]: Schema } = {
  '/healthz': get('getHealth', 'Whether the process is alive', { 200: { description: 'It is.', ...STATUS_PAGE } }),
  '/readyz': get('getReadiness', 'Whether it can take requests', {
    200: { description: 'It can.', ...STATUS_PAGE },
    503: { description: 'The store does not work, or the process drains.', ...STATUS_PAGE },
  }),
  '/metrics': get('getMetrics', 'Figures in the text format of Prometheus; 404 where they are switched off', {
    200: { description: 'The figures.', ...page('text/plain', TEXT) },
    404: { $ref: '#/components/responses/RouteNotFound' },
  }),
  '/openapi.json': get('getOpenapi', 'This document', {
    200: { description: 'The document.', ...page('application/json', { type: 'object', additionalProperties: true }) },
  }),
  '/docs': get('getDocs', 'This document as a page for people', {
    200: { description: 'The page.', ...page('text/html', TEXT) },
  }),
};

/** Answers to requests that match no route; the error family depends on the path. */
export const OTHER_RESPONSES: { readonly [name: string]: Schema } = {
  RouteNotFound: refusal('There is nothing at the path.', 'route_not_found'),
  MethodNotAllowed: refusal(
    'The path does not take the method; `Allow` has those that it takes.',
    'method_not_allowed',
  ),
  UriTooLong: refusal('The request line is too long.', 'uri_too_long'),
  HeadersTooLarge: refusal('The request headers are too large.', 'headers_too_large'),
  ExpectationFailed: refusal('The expectation is not 100-continue.', 'expectation_failed'),
};

function get(operationId: string, summary: string, responses: Schema): Schema {
  return { get: { operationId, tags: [OTHER_TAG.name], summary, security: [], responses } };
}

function page(mediaType: string, schema: Schema): Schema {
  return { content: { [mediaType]: { schema } } };
}

function refusal(description: string, code: string): Schema {
  const flat = { allOf: [{ $ref: '#/components/schemas/FlatError' }, { properties: { code: { const: code } } }] };
  const canonical = {
    allOf: [
      { $ref: '#/components/schemas/CanonicalError' },
      { properties: { error: { properties: { code: { const: code } } } } },
    ],
  };
  return { description, ...page('application/json', { oneOf: [flat, canonical] }) };
}

import { readdirSync, readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { OPENAPI, requestCheck } from '../support/openapi/document.ts';
import { checkExchange, type Exchange } from '../support/openapi/exchange.ts';

it('the OpenAPI document is one of version 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(OPENAPI));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

it('has the version that the interface is marked with, whatever that of the product is', () => {
  expect(OPENAPI.info).toMatchObject({ title: 'Spandrel', version: '1.0.0' });
});

it('every operation has its own id, and every reference has a target', () => {
  const operations = Object.values<object>(OPENAPI.paths).flatMap((item) => Object.values(item));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const references = [...JSON.stringify(OPENAPI).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
  const dangling = references.filter(
    (path) => path.split('/').reduce((value, part) => value?.[part], OPENAPI) === undefined,
  );
  expect(dangling).toEqual([]);
});

it.each([
  ['/api/api-keys', 'post', [{ organization_api_key: ['organization:manage'] }]],
  ['/api/collector', 'post', [{ project_api_key: ['traces:create'] }]],
  ['/api/permissions', 'get', [{ organization_api_key: [] }]],
  ['/healthz', 'get', []],
] as const)('%s %s lists only the class of key that it takes', (path, verb, security) => {
  expect(OPENAPI.paths[path][verb].security).toEqual(security);
});

const RECORDED = new URL('../otlp/recorded/', import.meta.url);

it.each(readdirSync(RECORDED).filter((name) => name.endsWith('.json')))(
  'what a published client sent is in the document: %s',
  (name) => {
    const check = requestCheck('#/components/schemas/OtlpExportTraceServiceRequest');
    expect(check(JSON.parse(readFileSync(new URL(name, RECORDED), 'utf8')))).toEqual([]);
  },
);

describe('an exchange that the document does not have is found out', () => {
  const error = { error: 'Not Found', message: 'There is none.', code: 'evaluator_not_found' };
  const good: Exchange = {
    verb: 'DELETE',
    path: '/api/evaluators/some',
    body: undefined,
    status: 200,
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8' }),
    text: '{"success":true}',
  };
  const refused: Exchange = { ...good, status: 404, text: JSON.stringify(error) };

  it('one that it has is not', () => {
    checkExchange(good);
    checkExchange(refused);
    checkExchange({ ...refused, path: '/api/nowhere', text: JSON.stringify({ ...error, code: 'route_not_found' }) });
  });

  it.each<[string, Exchange]>([
    ['a member', { ...good, text: '{"success":true,"other":1}' }],
    ['a missing member', { ...good, text: '{}' }],
    ['a value', { ...good, text: '{"success":"yes"}' }],
    ['a status', { ...good, status: 202 }],
    ['a media type', { ...good, headers: new Headers({ 'content-type': 'text/html' }) }],
    ['a route', { ...good, path: '/api/nowhere' }],
    ['a method', { ...good, verb: 'POST' }],
    ['a code', { ...refused, text: JSON.stringify({ ...error, code: 'trace_not_found' }) }],
    ['a header', { ...refused, status: 503, text: JSON.stringify({ ...error, code: 'unavailable' }) }],
    ['a value in the query', { ...good, verb: 'GET', path: '/api/api-keys?includeRevoked=2', text: '{"data":[]}' }],
  ])('%s', (_, exchange) => {
    expect(() => checkExchange(exchange)).toThrow('gen/openapi.json does not have this');
  });

  it('a body of OpenTelemetry, a member of its answer and a code of its refusals', () => {
    const sent: Exchange = { ...good, verb: 'POST', path: '/v1/traces/', body: '{"resourceSpans":[]}', text: '{}' };
    const refusal: Exchange = { ...sent, status: 400, text: JSON.stringify({ ...error, code: 3 }) };
    checkExchange(sent);
    checkExchange(refusal);
    for (const [exchange, problem] of [
      [{ ...sent, body: '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":1}]}]}]}' }, 'spans/0/name must be string'],
      [{ ...sent, text: '{"partialSuccess":{"rejectedSpans":"0","errorMessage":""}}' }, 'must be integer'],
      [{ ...refusal, text: JSON.stringify(error) }, 'code must be integer'],
    ] as const) {
      expect(() => checkExchange(exchange)).toThrow(problem);
    }
  });

  it('a body that was accepted', () => {
    const settings = { verb: 'PATCH', path: '/api/project/settings' };
    const answered = OPENAPI.components.schemas.ProjectSettings.required.map((name: string) => [name, null]);
    const exchange = { ...good, ...settings, text: JSON.stringify(Object.fromEntries(answered)) };
    expect(() => checkExchange({ ...exchange, body: '"none"' })).toThrow('(root) must be object');
  });
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { OPENAPI } from '../support/openapi/document.ts';
import { callRest } from '../support/surfaces.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, app.address), { headers });

it('anybody may read the OpenAPI document', async () => {
  const { status, body } = await callRest(app.address, { path: '/openapi.json' });
  expect(status).toBe(200);
  expect(body).toEqual(OPENAPI);
});

describe('the page of the document', () => {
  it('and all that it loads come from the server itself, for anybody', async () => {
    const page = await get('/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path = '']) => path);
    expect(loaded).toHaveLength(3);
    for (const path of loaded) {
      const { status, headers } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-type')).toMatch(path.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(html).not.toContain('://');
  });

  it('may run no script and ask no address but those of the server', async () => {
    const policy = (await get('/docs')).headers.get('content-security-policy') ?? '';
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)]));
    expect(rules.get('default-src')).toEqual(["'none'"]);
    expect(rules.get('script-src')).toEqual(["'self'"]);
    expect(rules.get('connect-src')).toEqual(["'self'"]);
    expect(rules.get('frame-ancestors')).toEqual(["'none'"]);
  });

  it('has its renderer from a package that production has', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(Object.keys(manifest.dependencies)).toContain('swagger-ui-dist');
  });
});

it('a client that has a page cached gets 304 without a body', async () => {
  const { headers } = await get('/docs/swagger-ui.js');
  const again = await get('/docs/swagger-ui.js', { 'if-none-match': headers.get('etag') ?? '' });
  expect(again.status).toBe(304);
  expect(await again.text()).toBe('');
  expect((await get('/docs/swagger-ui.js', { 'if-none-match': '"another"' })).status).toBe(200);
});

it('a page is compressed or not, as the request accepts', async () => {
  const plain = await (await get('/openapi.json', { 'accept-encoding': 'identity' })).text();
  const packed = await get('/openapi.json', { 'accept-encoding': 'gzip' });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(Number(packed.headers.get('content-length'))).toBeLessThan(plain.length / 4);
  expect(await packed.text()).toBe(plain);
});

it('a page takes no other method', async () => {
  const { status, headers } = await fetch(`${app.address}/docs`, { method: 'POST' });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

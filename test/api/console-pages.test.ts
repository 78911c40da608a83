import { get as request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORGANIZATION_ITEMS, PROJECT_ITEMS } from '../../src/console/layout/navigation.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, app.address), { headers });

async function assetPaths(): Promise<readonly string[]> {
  const html = await (await get('/')).text();
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
}

describe('the console', () => {
  it.each([
    '/',
    '/shop-abc123/traces/t1',
    '/shop/threads/t1',
    '/shop/compare',
    '/shop/evaluators/e1',
    '/shop/experiments/e1/runs/r1',
    '/-/webhooks/w1',
    '/-/keys/new',
    ...[...PROJECT_ITEMS, ...ORGANIZATION_ITEMS].map(({ to }) => to.replace('$slug', 'shop')),
  ])('is at %s, the same for everybody, whether or not there is such a record', async (path) => {
    const { status, headers } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('etag')).toBe((await get('/')).headers.get('etag'));
  });

  it.each([
    '/shop',
    '/shop/nothing',
    '/shared/',
    '/shared/token/more',
    '/shop/compare/t1/t2',
    '/shop/traces/t1/more',
    '/shop/traces/t1/runs/r1',
    '/shop/experiments/e1/runs/',
    '/shop/traces/',
    '/-/traces',
    '/shop/keys',
    '/assets/none.js',
    '/assets/../index.html',
  ])('is not at %s', async (path) => {
    const { status, body } = await callRest(app.address, { path });
    expect([status, body.code]).toEqual([404, 'route_not_found']);
  });

  it('is at the links to traces, which no search engine should list, and which no referrer names', async () => {
    const { status, headers } = await get('/shared/0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(['x-robots-tag', 'referrer-policy', 'cache-control'].map((name) => headers.get(name))).toEqual([
      'noindex',
      'no-referrer',
      'no-cache',
    ]);
    expect((await get('/shop/traces/t1')).headers.get('x-robots-tag')).toBeNull();
  });

  it('takes no path of the API', async () => {
    const { status, body } = await callRest(app.address, { path: '/api/traces/t1' });
    expect([status, body.code]).toEqual([401, 'missing_credentials']);
  });

  it('has no inline code, sends no request to other origins, cannot be framed and sends no referrer', async () => {
    const { headers } = await get('/');
    const policy = headers.get('content-security-policy') ?? '';
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]));
    expect(rules.get('default-src')).toBe("'none'");
    for (const name of ['script-src', 'style-src', 'connect-src']) expect(rules.get(name)).toBe("'self'");
    // Pictures and sound of messages are blobs that the page makes; no address of elsewhere is allowed.
    expect([rules.get('img-src'), rules.get('media-src')]).toEqual(["'self' blob:", 'blob:']);
    expect(policy).not.toContain('unsafe-');
    for (const name of ['base-uri', 'form-action', 'frame-ancestors']) expect(rules.get(name)).toBe("'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('set-cookie')).toBeNull();
    expect(await (await get('/')).text()).not.toMatch(/<script(?![^>]* src=)|<style|\son[a-z]+=|:\/\//);
  });

  it('has files that never change under their name, and packs them as the reader can unpack', async () => {
    const paths = await assetPaths();
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) {
      expect(path).toMatch(/^\/assets\/.+-[\w-]{8}\.(js|css|svg)$/);
      const plain = await get(path, { 'accept-encoding': 'identity' });
      expect([path, plain.status]).toEqual([path, 200]);
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const bytes = Buffer.from(await plain.arrayBuffer());
      for (const [coding, unpack] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const packed = await callPacked(path, coding);
        if (coding === 'gzip' && bytes.length < 1_024) continue;
        expect([path, packed.coding]).toEqual([path, coding]);
        expect(unpack(packed.body).equals(bytes)).toBe(true);
      }
    }
  });

  it('is not sent again to a client that has it cached', async () => {
    const etag = (await get('/')).headers.get('etag') ?? '';
    expect((await get('/', { 'if-none-match': etag })).status).toBe(304);
  });

  it('is not served when it is off, and links lead to a page that says how to read the record', async () => {
    const off = await startApp({ environment: { SPANDREL_CONSOLE: 'off' } });
    try {
      expect((await fetch(off.address)).status).toBe(404);
      expect((await fetch(`${off.address}/shop/traces`)).status).toBe(404);
      expect(await (await fetch(`${off.address}/shop/traces/t1`)).text()).toContain('/api/traces/t1');
    } finally {
      await off.close();
    }
  });
});

/** The raw bytes: fetch would decompress them. */
async function callPacked(path: string, coding: string): Promise<{ coding: string | undefined; body: Buffer }> {
  return new Promise((resolve, reject) => {
    request(new URL(path, app.address), { headers: { 'accept-encoding': coding } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ coding: response.headers['content-encoding'], body: Buffer.concat(parts) }));
    }).on('error', reject);
  });
}

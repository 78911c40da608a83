import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { maskInside } from '../../src/domain/fault.ts';
import { mintApiKey, mintProjectKey } from '../../src/domain/secrets.ts';
import { maskedHead, maskTokens } from '../../src/domain/token-mask.ts';
import { mintVirtualKeySecret } from '../../src/domain/virtual-keys/virtual-key-secret.ts';

const escapeAll = (text: string) => text.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`);

describe.each(['sk-lw-', 'acme-', 'a-b-', '0-', 'sk--'])('a token that begins with %s', (prefix) => {
  const { keyId, secret, token } = mintApiKey(prefix, randomBytes);
  const project = mintProjectKey(prefix, randomBytes).token;

  it.each([
    ['alone', token, keyId],
    ['in a path', `/api/api-keys/${token}/rotate`, `/api/api-keys/${keyId}/rotate`],
    ['in quotes', JSON.stringify({ id: token }), JSON.stringify({ id: keyId })],
    ['with more behind it', `${token}xyz and so on`, `${keyId} and so on`],
    ['without its prefix', token.slice(prefix.length), keyId],
    ['escaped', escapeAll(token), keyId],
    ['escaped twice', encodeURIComponent(escapeAll(token)), keyId],
    ['partly escaped', `x/${token.replace('_', '%5F')}?y`, `x/${keyId}?y`],
    ['twice', `${token} ${token}`, `${keyId} ${keyId}`],
  ])('an API key %s is shown by its id', (_, text, shown) => {
    expect(maskTokens(text)).toBe(shown);
    expect(maskTokens(shown)).toBe(shown);
  });

  it.each([
    ['alone', project, `${prefix}...`],
    ['in a path', `/api/projects/${project}`, `/api/projects/${prefix}...`],
    ['with more behind it', `${project}1xY`, `${prefix}...`],
    ['escaped', `/x/${escapeAll(project)}`, `/x/${prefix}...`],
  ])('a project key %s is shown by its prefix', (_, text, shown) => {
    expect(maskTokens(text)).toBe(shown);
    expect(maskTokens(shown)).toBe(shown);
  });

  it('no cut of a longer text lays a part of it open', () => {
    for (const each of [token, project]) {
      for (let before = 0; before < 120; before += 1) {
        const shown = maskedHead(`${'-'.repeat(before)}${each}`, 100);
        expect(shown.length).toBeLessThanOrEqual(100);
        expect(shown).not.toContain(each.slice(-secret.length).slice(0, 8));
      }
    }
  });

  it('what is left of one that was cut or mistyped is masked', () => {
    for (const each of [token, project]) {
      // Masking needs both cases and a digit, which nearly all tokens have.
      const cut = each.slice(0, -9).replace(/...$/, 'aB1');
      for (const typed of [cut, `${cut}!`]) expect(maskTokens(typed)).not.toContain(cut.slice(-20));
    }
  });
});

it('imported keys are masked as far as their shape is recognizable', () => {
  expect(maskTokens('sk-proj-0123456789abcdef0123')).toBe('sk-proj-...');
  expect(maskTokens('use pk-lf-0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0 now')).toBe('use pk-lf-... now');
  expect(maskTokens('Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4')).toBe('...');
});

it.each([
  'project_0123456789abcdefghijk',
  'req_0123456789ABCDEFGHIJabcd',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  'web-4bf92f3577b34da6a3ce929d0e0e4736',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '550e8400-e29b-41d4-a716-446655440000',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)',
  'aLongNameOfAFunctionThatDoesManyThings',
  '100% of %s and %d, %zz',
  '/api/projects/caf%C3%A9%20%22x%22',
  'task-list',
])('%j is not a token', (text) => {
  expect(maskTokens(text)).toBe(text);
});

it('texts inside lists and objects are masked, and nothing else', () => {
  const { keyId, token } = mintApiKey('sk-lw-', randomBytes);
  const value = { a: [token, 1, null, { b: `x ${token}` }], c: true };
  expect(maskInside(value)).toEqual({ a: [keyId, 1, null, { b: `x ${keyId}` }], c: true });
});

it('lines of JSON stay JSON, with any text before a token', () => {
  const api = mintApiKey('sk-lw-', randomBytes);
  const project = mintProjectKey('acme-', randomBytes).token;
  const typed = [api.token, api.secret, project, project.slice('acme-'.length), 'sk-proj-0123456789abcdef0123'];
  for (const before of [
    '',
    '\n',
    'x\n',
    '\t',
    '\u0001',
    '\\',
    '\\n',
    '"',
    '\\"',
    '%22',
    '%5C%22',
    '\u2028',
    'u00e9',
    '\\%6e',
  ]) {
    // A vendor key is masked only when it stands by itself.
    for (const token of /[0-9a-z]$/.test(before) ? typed.slice(0, -1) : typed) {
      const line = JSON.stringify({
        msg: `${before}${token}`,
        err: { stack: `Error: ${token}\n    at ${before}${token}` },
      });
      const { msg, err } = JSON.parse(maskTokens(line));
      expect(`${msg} ${err.stack}`).not.toContain(token.slice(-12));
    }
  }
});

it('hostile texts cost time in proportion to their length', () => {
  const length = 200_000;
  for (const unit of ['a', 'a-', 'sk-', '%25', '%', 'aB1', 'sk-a-', '0_', '%2', `${'a'.repeat(16)}_`]) {
    const text = unit.repeat(Math.ceil(length / unit.length));
    const before = process.threadCpuUsage();
    maskTokens(text);
    // In quadratic time it would take minutes.
    expect(process.threadCpuUsage(before).user, unit).toBeLessThan(2_000_000);
  }
});

describe.each(['vk-lw-', 'acme-'])('the secret of a virtual key that begins with %s', (prefix) => {
  const { secret } = mintVirtualKeySecret(prefix, { pepper: Buffer.alloc(32), random: randomBytes });

  it.each([
    ['alone', secret, `${prefix}...`],
    ['in a path', `/v1/keys/${secret}/rotate`, `/v1/keys/${prefix}.../rotate`],
    ['with more behind it', `${secret}xyz and so on`, `${prefix}... and so on`],
    ['escaped', escapeAll(secret), `${prefix}...`],
  ])('%s is shown by its prefix', (_, text, shown) => {
    expect(maskTokens(text)).toBe(shown);
    expect(maskTokens(shown)).toBe(shown);
  });
});

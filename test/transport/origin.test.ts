import { describe, expect, it } from 'vitest';
import { parseRangeOrAddress } from '../../src/domain/public-address.ts';
import { createQuotas } from '../../src/rpc/quotas.ts';
import { createOriginOf, networkOf } from '../../src/transport/origin.ts';

describe('the address of a request', () => {
  const trustedProxies = ['10.0.0.0/8', 'fd00::/8'].flatMap((text) => parseRangeOrAddress(text) ?? []);
  const quotas = createQuotas({ arriving: 1, inFlight: 1, bodyBytes: 1, responseBytes: 1 });

  function addressOf(peer: string, forwarded: string | undefined, proxies = trustedProxies): string | null {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const arrival = { socket: { remoteAddress: peer }, connection: null, headers, hasBody: false };
    return createOriginOf({ quotas, trustedProxies: proxies, publicOrigin: null })(arrival).remoteAddress;
  }

  it.each([
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '1.1.1.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    ['10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['fd00::1', '2001:db8::7', '2001:db8::7'],
    ['192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['10.0.0.1', '203.0.113.9:51234', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9:51234, 10.9.9.9:80', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7]:51234', '2001:db8::7'],
    ['10.0.0.1', '[::ffff:203.0.113.9]:51234', '203.0.113.9'],
    ['10.0.0.1', '"203.0.113.9"', '203.0.113.9'],
    ['10.0.0.1', '"203.0.113.9:51234"', '203.0.113.9'],
    ['10.0.0.1', '"[2001:db8::7]:51234"', '2001:db8::7'],
    ['10.0.0.1', '203.0.113.9, [10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, "unknown"', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9:_hidden', '10.0.0.1'],
  ])('%s, forwarded for %s, is %s', (peer, forwarded, expected) => {
    expect(addressOf(peer, forwarded)).toBe(expected);
  });

  it('is what the socket says where no proxy is trusted', () => {
    expect(addressOf('10.0.0.1', '203.0.113.9', [])).toBe('10.0.0.1');
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('whether a request came over TLS', () => {
  const trustedProxies = parseRangeOrAddress('10.0.0.0/8') ?? [];
  const quotas = createQuotas({ arriving: 1, inFlight: 1, bodyBytes: 1, responseBytes: 1 });
  const deps = { quotas, trustedProxies: [trustedProxies].flat() };
  const originOf = createOriginOf({ ...deps, publicOrigin: null });

  it.each<readonly [string, boolean, string | undefined, boolean]>([
    ['192.0.2.1', true, undefined, true],
    ['192.0.2.1', false, undefined, false],
    ['192.0.2.1', false, 'https', false],
    ['10.0.0.1', false, 'https', true],
    ['::ffff:10.0.0.1', false, 'HTTPS, http', true],
    ['10.0.0.1', false, 'http, https', false],
    ['10.0.0.1', false, '', false],
  ])('%s, encrypted %s, forwarded %s: %s', (remoteAddress, encrypted, proto, expected) => {
    const headers = proto === undefined ? {} : { 'x-forwarded-proto': proto };
    expect(originOf({ socket: { remoteAddress, encrypted }, headers, hasBody: false }).isSecure).toBe(expected);
  });

  it.each<readonly [string | null, string | undefined, boolean]>([
    ['https://a.example', 'https://a.example', true],
    ['https://a.example', 'https://b.example', false],
    ['https://a.example', undefined, false],
    ['http://a.example', 'http://a.example', false],
    [null, 'https://a.example', false],
  ])('from a page of %s, with Origin %s: %s', (publicOrigin, origin, expected) => {
    const headers = origin === undefined ? {} : { origin };
    const arrival = { socket: { remoteAddress: '192.0.2.1', encrypted: false }, headers, hasBody: false };
    expect(createOriginOf({ ...deps, publicOrigin })(arrival).isSecure).toBe(expected);
  });
});

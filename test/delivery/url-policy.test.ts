import { describe, expect, it } from 'vitest';
import { parseAllowList } from '../../src/domain/endpoints/url-allow-list.ts';
import { checkNewUrl, createUrlPolicy, type UrlRefusal } from '../../src/domain/endpoints/url-policy.ts';
import { policyWith } from '../support/http-sending.ts';
import { forbiddenUrls, metadataUrls } from './forbidden-urls.ts';

const open = createUrlPolicy([]);
const unresolved = () => Promise.reject(new Error('no answer'));

function reasonOf(policy: typeof open, url: string): UrlRefusal['reason'] | 'ok' {
  const judgement = policy.checkUrl(url);
  return judgement.kind === 'ok' ? 'ok' : judgement.reason;
}

/** The outcome of saving a URL whose host has these addresses. */
async function save(policy: typeof open, url: string, addresses: readonly string[] | null): Promise<string> {
  const refusal = await checkNewUrl(policy, () => (addresses ? Promise.resolve(addresses) : unresolved()), url);
  return refusal?.reason ?? 'ok';
}

describe('a url', () => {
  it.each([
    ['https://example.com/hook', 'ok'],
    ['https://example.com:8443/hook?a=b#c', 'ok'],
    ['https://example.com./hook', 'ok'],
    ['https://sqs.eu-west-1.amazonaws.com/', 'ok'],
    ['https://93.184.216.34/', 'ok'],
    ['https://[2606:2800:220:1::1]/', 'ok'],
    ['https://mylocalhost/', 'ok'],
    ['https://notinternal/', 'ok'],
    ['', 'unparsable'],
    ['example.com/hook', 'unparsable'],
    ['https://', 'unparsable'],
    ['https://exa mple.com/', 'unparsable'],
    [' https://example.com/', 'unparsable'],
    ['https://example.com/\n', 'unparsable'],
    ['https://exam\tple.com/', 'unparsable'],
    ['https://example.com\\@127.0.0.1/', 'unparsable'],
    ['https://example.com/\u0000', 'unparsable'],
    ['https://example.com/a\u00a0b', 'unparsable'],
    ['https://[::1%25eth0]/', 'unparsable'],
    ['https://256.256.256.256/', 'unparsable'],
    ['http://example.com/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://user@127.0.0.1:22/', 'scheme'],
    ['https://user@127.0.0.1:22/', 'host'],
    ['https://./', 'host'],
    ['https://a..b/', 'host'],
    ['https://user@example.com:22/', 'port'],
    ['https://example.com:80/', 'port'],
    ['https://example.com:0/', 'port'],
    ['https://user@example.com/', 'credentials'],
    ['https://:password@example.com/', 'credentials'],
  ])('%j gives: %s', (url, reason) => {
    expect(reasonOf(open, url)).toBe(reason);
  });

  it.each([
    ['http://receiver:8080/', '10.0.0.0/8', 'https'],
    ['https://receiver.internal/', '10.0.0.0/8', 'host'],
    ['https://receiver.example:9000/', '10.0.0.0/8', '443'],
  ])('%s whose host has no address is reported when only its addresses could allow it', async (url, listed, word) => {
    const message = async (resolve: () => Promise<readonly string[]>) =>
      (await checkNewUrl(policyWith(listed), resolve, url))?.message;
    for (const resolve of [unresolved, () => Promise.resolve([])]) {
      expect(await message(resolve)).toContain('does not resolve');
      expect(await message(resolve)).toContain(word);
    }
    expect(await message(() => Promise.resolve(['93.184.216.34']))).not.toContain('does not resolve');
    expect(await message(() => Promise.resolve(['10.1.2.3']))).toBeUndefined();
  });

  it('is refused with the code that names what to change', () => {
    const messageOf = (url: string) => {
      const judgement = open.checkUrl(url);
      return judgement.kind === 'refused' ? judgement.message : '';
    };
    expect(messageOf('http://example.com/')).toContain('https');
    expect(messageOf('https://example.com:22/')).toContain('443');
    expect(messageOf('https://a:b@example.com/')).toContain('credentials');
  });

  it('is refused in each of its spellings when it leads to a forbidden address', () => {
    const urls = forbiddenUrls();
    expect(urls.length).toBeGreaterThan(400);
    expect(urls.filter((url) => reasonOf(open, url) === 'ok')).toEqual([]);
  });

  it('is split into the parts that a request needs', () => {
    const judgement = open.checkUrl('https://Exämple.com.:8443/a b'.replace(' ', '%20').concat('?q=ü#f'));
    expect(judgement).toEqual({
      kind: 'ok',
      target: {
        secure: true,
        host: 'xn--exmple-cua.com',
        isLiteral: false,
        port: 8443,
        authority: 'xn--exmple-cua.com.:8443',
        path: '/a%20b?q=%C3%BC',
        unlessListed: null,
      },
    });
  });
});

describe('the addresses of a host', () => {
  const judgement = open.checkUrl('https://example.com/');
  const reaches = (...addresses: string[]) => judgement.kind === 'ok' && open.mayReach(judgement.target, addresses);

  it.each([
    '0.255.255.255 1.0.0.0',
    '10.0.0.0 9.255.255.255',
    '10.255.255.255 11.0.0.0',
    '100.64.0.0 100.63.255.255',
    '100.127.255.255 100.128.0.0',
    '127.255.255.255 128.0.0.0',
    '169.254.0.0 169.253.255.255',
    '172.16.0.0 172.15.255.255',
    '172.31.255.255 172.32.0.0',
    '192.0.0.255 192.0.1.0',
    '192.0.2.255 192.0.3.0',
    '192.88.99.0 192.88.98.255',
    '192.168.255.255 192.169.0.0',
    '198.19.255.255 198.20.0.0',
    '198.51.100.255 198.51.101.0',
    '203.0.113.0 203.0.112.255',
    '224.0.0.0 223.255.255.255',
    '168.63.129.16 168.63.129.17',
    '1fff::1 2000::1',
    '4000::1 3ffe::1',
    '2001:1ff:ffff::1 2001:200::1',
    '2001:db8:ffff::1 2001:db9::1',
    '2002:ffff::1 2003::1',
    '3fff:fff::1 3fff:1000::1',
    '::ffff:10.0.0.1 ::ffff:11.0.0.1',
  ])('are public outside, and only outside, of the reserved ranges: %s', (pair) => {
    const [reserved = '', outside = ''] = pair.split(' ');
    expect(reaches(reserved)).toBe(false);
    expect(reaches(outside)).toBe(true);
  });

  it('are all refused for one that is not public, or is not an address at all', () => {
    expect(reaches('93.184.216.34', '2606:2800:220:1::1')).toBe(true);
    for (const wrong of ['10.0.0.1', '::1', '', 'example.com', '1.2.3', '01.2.3.4', 'fe80::1%eth0', '1::2::3', ':::']) {
      expect(reaches('93.184.216.34', wrong)).toBe(false);
      expect(reaches(wrong, '93.184.216.34')).toBe(false);
    }
    expect(reaches()).toBe(false);
  });

  it('are resolved when the url is saved; a host without an answer is accepted', async () => {
    expect(await save(open, 'https://example.com/', ['93.184.216.34'])).toBe('ok');
    expect(await save(open, 'https://example.com/', null)).toBe('ok');
    expect(await save(open, 'https://example.com/', ['93.184.216.34', '10.0.0.1'])).toBe('host');
    expect(await save(open, 'http://example.com/', ['93.184.216.34'])).toBe('scheme');
  });
});

describe('the list of what an operator allows', () => {
  it('allows a name on its port with any address except a metadata address', async () => {
    const policy = policyWith('Hooks.Internal:8080, localhost');
    expect(await save(policy, 'http://hooks.internal:8080/', ['10.0.0.1'])).toBe('ok');
    expect(await save(policy, 'http://hooks.internal.:8080/', ['10.0.0.1', '93.184.216.34'])).toBe('ok');
    expect(await save(policy, 'http://hooks.internal:8081/', ['10.0.0.1'])).toBe('scheme');
    expect(await save(policy, 'https://hooks.internal/', ['10.0.0.1'])).toBe('host');
    expect(await save(policy, 'http://a.hooks.internal:8080/', ['10.0.0.1'])).toBe('scheme');
    expect(await save(policy, 'http://localhost:9/', ['127.0.0.1', '::1'])).toBe('ok');
    expect(await save(policy, 'http://127.0.0.1:9/', [])).toBe('scheme');
    expect(await save(policy, 'http://localhost/', ['169.254.169.254'])).toBe('host');
    expect(await save(policy, 'http://localhost/', ['127.0.0.1', 'fd00:ec2::254'])).toBe('host');
    expect(await save(policy, 'http://a@localhost/', ['127.0.0.1'])).toBe('credentials');
    expect(await save(policyWith('metadata'), 'http://metadata/', ['10.0.0.1'])).toBe('host');
  });

  it('opens a network to addresses, and to names that lead into it with all they have', async () => {
    const policy = policyWith('10.0.0.0/8:8080,[fd12::/16]:8080,127.0.0.1');
    expect(await save(policy, 'http://10.9.9.9:8080/', [])).toBe('ok');
    expect(await save(policy, 'http://[::ffff:10.9.9.9]:8080/', [])).toBe('ok');
    expect(await save(policy, 'http://10.9.9.9/', [])).toBe('scheme');
    expect(await save(policy, 'http://11.0.0.1:8080/', [])).toBe('scheme');
    expect(await save(policy, 'http://[fd12::1]:8080/', [])).toBe('ok');
    expect(await save(policy, 'http://[fd13::1]:8080/', [])).toBe('scheme');
    expect(await save(policy, 'http://127.0.0.1:1/', [])).toBe('ok');
    expect(await save(policy, 'http://127.0.0.2:1/', [])).toBe('scheme');
    expect(await save(policy, 'http://hooks.internal:8080/', ['10.0.0.1', 'fd12::1'])).toBe('ok');
    expect(await save(policy, 'http://hooks.internal:8080/', ['10.0.0.1', '93.184.216.34'])).toBe('scheme');
    expect(await save(policy, 'http://hooks.internal:8080/', null)).toBe('scheme');
    expect(await save(policy, 'https://hooks.internal:8081/', ['10.0.0.1'])).toBe('host');
    expect(await save(policy, 'https://hooks.example.com/', ['10.0.0.1'])).toBe('host');
    expect(await save(policy, 'http://a@hooks.internal:8080/', ['10.0.0.1'])).toBe('scheme');
  });

  it('never allows metadata addresses, in any spelling', () => {
    const policy = policyWith('0.0.0.0/0,::/0');
    const metadata = [
      'http://169.254.169.254/',
      'http://169.254.170.2/',
      'http://168.63.129.16/',
      'http://100.100.100.200/',
      'http://[fd00:ec2::254]/',
      'http://[::ffff:169.254.169.254]/',
      'http://[::169.254.169.254]/',
      'http://[64:ff9b::169.254.169.254]/',
      'http://2852039166/',
    ];
    expect(metadata.filter((url) => reasonOf(policy, url) !== 'host')).toEqual([]);
    for (const url of metadataUrls()) expect([url, reasonOf(policy, url)]).toEqual([url, 'host']);
    expect(reasonOf(policy, 'http://169.254.169.253/')).toBe('ok');
    expect(reasonOf(policy, 'http://[64:ff9b::169.254.169.253]/')).toBe('ok');
    expect(reasonOf(policy, 'http://[2002:a9fe:a9fd::1]/')).toBe('ok');
    expect(reasonOf(policy, 'http://[2002:7f00:1:a9fe:a9fe::1]/')).toBe('ok');
    expect(reasonOf(policy, 'http://[fd20:ce::253]/')).toBe('ok');
    expect(reasonOf(policy, 'http://metadata.google.internal/')).toBe('scheme');
  });

  it('never allows metadata by address or by name, even when the list names it exactly', async () => {
    for (const url of metadataUrls()) {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
      expect([host, reasonOf(policyWith(host), url)]).toEqual([host, 'host']);
      const named = policyWith('hooks.internal');
      expect([host, await save(named, 'http://hooks.internal/', [host])]).toEqual([host, 'host']);
      expect([host, await save(named, 'http://hooks.internal/', ['10.0.0.1', host])]).toEqual([host, 'host']);
    }
  });

  it.each([
    ['10.0.0.0/33', 1],
    ['::/129', 1],
    ['ok.example,', 2],
    ['ok.example,*.example.com', 2],
    ['https://example.com', 1],
    ['example.com/hook', 1],
    ['example.com:0', 1],
    ['example.com:65536', 1],
    ['example.com:http', 1],
    ['example.com:80:80', 1],
    ['[10.0.0.1]:80', 1],
    ['[::1', 1],
    ['[::1]80', 1],
    ['user@example.com', 1],
    ['10.1', 1],
    ['0x7f.1', 1],
    ['1.2.3.4.5', 1],
    ['two words', 1],
  ])('with %j is refused, and says where', (text, position) => {
    const reading = parseAllowList(text);
    expect(reading.kind === 'problem' && reading.problem).toContain(`entry ${position} `);
  });

  it('may be empty', () => {
    expect(parseAllowList('')).toEqual({ kind: 'entries', entries: [] });
    expect(parseAllowList('  ')).toEqual({ kind: 'entries', entries: [] });
  });
});

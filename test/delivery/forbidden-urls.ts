/** Ways to write addresses that webhooks must never reach. */

/** The metadata services of clouds and containers. */
const METADATA = [
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '192.0.0.192',
];
const METADATA_6 = ['[fd00:ec2::254]', '[fd00:ec2::23]', '[fd20:ce::254]', '[FD20:00CE:0:0:0:0:0:0254]'];

/** Of every range that is not public, and all of the above. */
const FORBIDDEN = [
  ...METADATA,
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '172.31.255.1',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '255.255.255.255',
];

const FORBIDDEN_6 = [
  ...METADATA_6,
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[FD00:0EC2:0:0:0:0:0:0254]',
  '[ff02::1]',
  '[100::1]',
  '[2001::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[2001:0DB8:0:0::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[4000::1]',
  '[1fff:ffff::1]',
];

const FORBIDDEN_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'localhost..',
  'a.localhost',
  'metadata',
  'metadata.',
  'Metadata.Google.Internal',
  'metadata.google.internal.',
  'db.internal',
  'internal',
  'printer.local',
  'router.home.arpa',
  'x.invalid',
  'x.onion',
  'l%6Fcalhost',
  'ｌｏｃａｌｈｏｓｔ',
  'localhost\u3002',
  'db\uff0einternal',
  'loc\u00adalhost',
];

/** No setting may allow these: neither the address itself nor a network that contains it. */
export function metadataUrls(): string[] {
  return [...METADATA.flatMap(spellingsOf), ...METADATA.flatMap(carriersOf), ...METADATA_6].map(
    (host) => `http://${host}/`,
  );
}

/** IPv6 addresses that translators, tunnels and old ways to write them take for an IPv4 address. */
function carriersOf(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = (...bytes: readonly number[]) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const [high, low] = [hex(a, b), hex(c, d)];
  const [highMasked, lowMasked] = [hex(a ^ 255, b ^ 255), hex(c ^ 255, d ^ 255)];
  return [
    `[::ffff:0:${high}:${low}]`,
    // NAT64 with the well-known prefix, with local ones of each length, and with one of the operator.
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[64:ff9b:1:abcd:0:1234:${high}:${low}]`,
    `[64:ff9b:1:${high}:${hex(0, c)}:${hex(d, 0)}::]`,
    `[64:ff9b:1:${hex(7, a)}:${hex(0, b)}:${hex(c, d)}::]`,
    `[64:ff9b:1:abcd:${hex(0, a)}:${hex(b, c)}:${hex(d, 0)}:0]`,
    `[2001:67c:abcd:64::${high}:${low}]`,
    // 6to4
    `[2002:${high}:${low}::1]`,
    `[2002:${high}:${low}:${high}:0:5efe:${high}:${low}]`,
    // ISATAP, with a local and a global interface
    `[fe80::5efe:${high}:${low}]`,
    `[2001:db8::200:5efe:${high}:${low}]`,
    // Teredo: the client, and the server
    `[2001:0:4136:e378:8000:63bf:${highMasked}:${lowMasked}]`,
    `[2001:0:${high}:${low}:8000:63bf:3fff:fdd2]`,
  ];
}

/** Every URL here must be refused without a lookup and without a connection. */
export function forbiddenUrls(): string[] {
  const hosts = [...FORBIDDEN.flatMap(spellingsOf), ...FORBIDDEN_6, ...FORBIDDEN_NAMES];
  return [
    ...hosts.map((host) => `https://${host}/hook`),
    'https://user:password@10.0.0.1/hook',
    'https://example.com@127.0.0.1/hook',
    'https://example.com:443@127.0.0.1:8443/hook',
    'https://127.0.0.1#@example.com/hook',
    'https://127.0.0.1?@example.com/hook',
    'https:127.0.0.1/hook',
    'https:///127.0.0.1/hook',
    'https:/127.0.0.1/hook',
    'HTTPS://127.1/hook',
  ];
}

function spellingsOf(address: string): string[] {
  const bytes = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const octal = (value: number) => `0${value.toString(8)}`;
  const high = (a * 256 + b).toString(16);
  const low = (c * 256 + d).toString(16);
  return [
    address,
    `${address}.`,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase().replace('X', 'x'),
    octal(whole),
    bytes.map(hex).join('.'),
    bytes.map(octal).join('.'),
    bytes.map((byte) => `000000${octal(byte)}`).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${hex(a)}.${hex((b * 256 + c) * 256 + d)}`,
    address.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    address.replace(/[0-9]/g, (digit) => (digit === '0' ? '⓪' : String.fromCodePoint(0x245f + Number(digit)))),
    address.replaceAll('.', '\u3002'),
    address.replace(/[0-9]/g, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:4136:e378:8000:63bf:${high}:${low}]`,
  ];
}

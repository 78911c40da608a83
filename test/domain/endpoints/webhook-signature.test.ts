import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { mintWebhookSecret, openWebhookSecret, signMessage } from '../../../src/domain/endpoints/webhook-signature.ts';
import { verifiesLangwatch, verifiesStandard } from '../../support/webhook-verifier.ts';

const A = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const B = 'whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=';
const ID_1 = 'webhookendpoint_0005p2syRelBzOqqEi3ft3bFhpiQC:23135b55785c0090';
const ID_2 = 'test:00000000-0000-4000-8000-000000000000';
const BODY_1 =
  '{"batch":[{"id":"req_1:completed","type":"gateway.request.completed","created":"2026-07-27T14:03:11.482Z","schema_version":"1","data":{"gateway_request_id":"req_1"}}]}';
const BODY_2 = '{"note":"café \\"quoted\\" ✓"}';

const STANDARD_A = 'v1,ol1X5EnYAJPiJSEn82MzCYv+ExfEenunOiIprDWrD34=';
const STANDARD_B = 'v1,RegWdKjdTeA1hT2WpYEn1yA+qG7aaSarSFPdzsfyID8=';
const HEX_A = 'v1=4e97227e6936d43353591ee86bcd3f82c0befbb6d6b811cdee8d5332c596c648';
const HEX_B = 'v1=04c3aae6e84e6537703f3ff80b3f9d5bc84b23b6dce7694992cf0ffe321043b1';

const VECTORS = [
  { secrets: [A], id: ID_1, t: 1_790_000_000, body: BODY_1, standard: STANDARD_A, langwatch: `t=1790000000,${HEX_A}` },
  { secrets: [B], id: ID_1, t: 1_790_000_000, body: BODY_1, standard: STANDARD_B, langwatch: `t=1790000000,${HEX_B}` },
  {
    secrets: [B, A],
    id: ID_1,
    t: 1_790_000_000,
    body: BODY_1,
    standard: `${STANDARD_B} ${STANDARD_A}`,
    langwatch: `t=1790000000,${HEX_B},${HEX_A}`,
  },
  {
    secrets: [A],
    id: ID_2,
    t: 1_753_000_000,
    body: BODY_2,
    standard: 'v1,gsgd7RjunIgCxiXLxWlUSKH3YznpYn4LJoXFAhF1OwE=',
    langwatch: 't=1753000000,v1=053d95a93c8519a90c40117e0053f5acfd0e6090f3a95153919925a3d4d9aebc',
  },
  {
    secrets: [A],
    id: ID_1,
    t: 1_767_225_600,
    body: '',
    standard: 'v1,SY/tfrpDAwxlNzPmXPJ9m/bjRX0lfBk5J8CxcWEV4aw=',
    langwatch: 't=1767225600,v1=fb20d84158565e5e2c287de79fb2b30bc90c2472a829707260a2c086b9c3a035',
  },
];

function sign({ secrets, id, t, body }: { secrets: string[]; id: string; t: number; body: string }) {
  const opened = secrets.map(openWebhookSecret);
  return signMessage({ secrets: opened, dispatchId: id, timestamp: t, body: Buffer.from(body) });
}

/** Every text that differs from this one in one character. */
function mutationsOf(text: string): string[] {
  return [...text].flatMap((character, index) => {
    const others = character === 'A' ? ['B', ''] : ['A', ''];
    return others.map((other) => text.slice(0, index) + other + text.slice(index + 1));
  });
}

describe('signatures', () => {
  it.each(VECTORS)('are those of the published vectors, number %#', (vector) => {
    expect(sign(vector)).toEqual({ standard: vector.standard, langwatch: vector.langwatch });
  });

  it('are accepted by the library of Standard Webhooks, with either secret during an overlap', () => {
    const t = Math.floor(Date.now() / 1_000);
    const { standard } = sign({ secrets: [B, A], id: ID_1, t, body: BODY_1 });
    const headers = { 'webhook-id': ID_1, 'webhook-timestamp': String(t), 'webhook-signature': standard };
    for (const secret of [A, B]) expect(new Webhook(secret).verify(BODY_1, headers)).toEqual(JSON.parse(BODY_1));
    expect(() => new Webhook(mintWebhookSecret(randomBytes)).verify(BODY_1, headers)).toThrow();
  });

  it('no longer match once a character of them, of the body, the id or the time was changed', () => {
    const received = { id: ID_1, timestamp: '1790000000', body: Buffer.from(BODY_1) };
    const { standard, langwatch } = sign({ secrets: [A], id: ID_1, t: 1_790_000_000, body: BODY_1 });
    expect(verifiesStandard(A, received, standard)).toBe(true);
    expect(verifiesLangwatch(A, received, langwatch)).toBe(true);
    for (const mutated of mutationsOf(standard)) expect(verifiesStandard(A, received, mutated)).toBe(false);
    for (const mutated of mutationsOf(langwatch)) expect(verifiesLangwatch(A, received, mutated)).toBe(false);
    for (const body of mutationsOf(BODY_1).map((text) => Buffer.from(text))) {
      expect(verifiesStandard(A, { ...received, body }, standard)).toBe(false);
      expect(verifiesLangwatch(A, { ...received, body }, langwatch)).toBe(false);
    }
    expect(verifiesStandard(A, { ...received, id: ID_2 }, standard)).toBe(false);
    expect(verifiesStandard(A, { ...received, timestamp: '1790000001' }, standard)).toBe(false);
    expect(verifiesLangwatch(A, { ...received, timestamp: '1790000001' }, langwatch)).toBe(false);
    expect(verifiesStandard(B, received, standard)).toBe(false);
    expect(verifiesLangwatch(B, received, langwatch)).toBe(false);
  });
});

describe('a new secret', () => {
  it('is the prefix and 32 random bytes', () => {
    const secret = mintWebhookSecret(randomBytes);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(mintWebhookSecret(() => Buffer.from([...Array(32).keys()]))).toBe(A);
    expect(mintWebhookSecret(randomBytes)).not.toBe(secret);
  });
});

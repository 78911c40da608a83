import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Claims } from '../../src/domain/sessions/claim-rules.ts';
import type { NewSession } from '../../src/domain/sessions/sessions.ts';
import type { Issuer } from '../../src/sign-in/issuer.ts';
import { createSignIn } from '../../src/sign-in/sign-in.ts';

const SESSION = { session: { createdAtMs: 0, expiresAtMs: 1_000 }, secret: 'secret' } as NewSession;

type Options = { readonly readClaims: Issuer['readClaims'] };

/** Sign-ins with an issuer that answers as the test says. */
function subject({ readClaims }: Options) {
  const claimed: string[] = [];
  const signIn = createSignIn({
    issuer: {
      signInUrl: async ({ state }: { readonly state: string }) => new URL(`https://issuer.invalid/?state=${state}`),
      readClaims,
    },
    begin: async () => SESSION,
    claimOnce: async (state) => claimed.push(state) > 0,
    isConsolePage: () => true,
    publicUrl: 'https://spandrel.invalid',
    encryptionKeys: [randomBytes(32)],
    random: randomBytes,
    clock: Date.now,
    onBug: (error) => {
      throw error;
    },
  });
  const visitOf = (network: string, query: string, cookie = '') => ({
    ...{ network, query, ip: network, requestId: 'request', traceId: null, isSecure: true },
    header: (name: string) => (name === 'cookie' ? cookie : undefined),
  });
  /** Begins a sign-in, and returns the way back from the issuer. */
  async function begin(network: string) {
    const { location, cookies } = await signIn.login(visitOf(network, ''));
    const state = new URL(location).searchParams.get('state') ?? '';
    const [cookie = ''] = cookies.map((each) => each.split(';')[0] ?? '');
    return () => signIn.comeBack(visitOf(network, `state=${state}&code=code`, cookie));
  }
  return { begin, claimed };
}

it('a sign-in that the issuer does not vouch for MUST write nothing, and the issuer is asked once', async () => {
  let asked = 0;
  const { begin, claimed } = subject({
    readClaims: async () => {
      asked += 1;
      throw new Error('the code is made up');
    },
  });
  const comeBack = await begin('192.0.2.1');
  await expect(comeBack()).rejects.toThrow();
  await expect(comeBack()).rejects.toMatchObject({ code: 'sign_in_invalid' });
  expect([asked, claimed]).toEqual([1, []]);
});

it('strangers of one network MUST NOT keep those of others from signing in', async () => {
  let isAnswering = false;
  const waiting: (() => void)[] = [];
  const { begin } = subject({
    readClaims: async () => {
      if (!isAnswering) await new Promise<void>((resolve) => waiting.push(resolve));
      return {} as Claims;
    },
  });
  const strangers: Promise<unknown>[] = [];
  for (let count = 0; count < 40; count += 1) strangers.push((await begin('192.0.2.1'))());
  const ended = Promise.allSettled(strangers);
  const comeBack = await begin('198.51.100.7');
  expect(waiting).toHaveLength(16);
  isAnswering = true;
  expect((await comeBack()).location).toBe('https://spandrel.invalid/');
  for (const answer of waiting) answer();
  const refused = (await ended).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(40 - 16 - 16);
});

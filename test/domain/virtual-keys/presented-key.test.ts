import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Project } from '../../../src/domain/caller.ts';
import { createKeyCheck, readVirtualKey } from '../../../src/domain/virtual-keys/presented-key.ts';
import { DEFAULT_CONFIG, type PresentedKey } from '../../../src/domain/virtual-keys/virtual-key.ts';
import { mintVirtualKeySecret } from '../../../src/domain/virtual-keys/virtual-key-secret.ts';

const pepper = Buffer.alloc(32, 7);
const prefix = 'vk-lw-';
const minted = mintVirtualKeySecret(prefix, { pepper, random: randomBytes });

type Changes = Partial<PresentedKey['key']> & { readonly principalActive?: boolean };

function found({ principalActive = true, ...changes }: Changes): PresentedKey {
  return {
    key: {
      ...{ organizationId: 'organization_1', id: 'vk_1', name: 'n', description: null, status: 'active' },
      ...{ displayPrefix: 'vk-lw-ABCD', previousSecretUntilMs: null, principalUserId: null, externalId: null },
      ...{ traceProjectId: 'project_1', metadataJson: '{}', labels: [], config: DEFAULT_CONFIG, revision: 1 },
      ...{ lastUsedAtMs: null, expiresAtMs: null, revokedAtMs: null, createdAtMs: 0, updatedAtMs: 0 },
      ...changes,
    },
    organization: { id: 'organization_1', number: 1, priceVersion: 0, promptVersion: 0 },
    project: { id: 'project_1' } as Project,
    principalActive,
  };
}

describe('a virtual key that a request presents', () => {
  it.each([
    ['is valid', {}, { kind: 'valid' }],
    ['is refused once disabled', { status: 'disabled' }, { kind: 'refused', reason: 'disabled' }],
    ['is refused once revoked', { status: 'revoked', expiresAtMs: 1 }, { kind: 'refused', reason: 'revoked' }],
    ['is valid until it expires', { expiresAtMs: 101 }, { kind: 'valid' }],
    [
      'is refused while its member is not active',
      { principalActive: false },
      { kind: 'refused', reason: 'principal_inactive' },
    ],
    ['is refused from its end on', { expiresAtMs: 100 }, { kind: 'refused', reason: 'expired' }],
  ] as const)('%s', async (_, changes, wanted) => {
    const known = found(changes);
    const findVirtualKey = (hash: Buffer) => (hash.equals(minted.secretHash) ? known : null);
    const check = createKeyCheck({ keys: { findVirtualKey }, pepper, prefix });
    expect(await check(minted.secret, 100)).toEqual({ ...wanted, ...known });
    const other = mintVirtualKeySecret(prefix, { pepper, random: randomBytes });
    expect(await check(other.secret, 100)).toEqual({ kind: 'unknown' });
  });

  it('costs no read without a checksum', async () => {
    let reads = 0;
    const findVirtualKey = () => {
      reads += 1;
      return null;
    };
    const check = createKeyCheck({ keys: { findVirtualKey }, pepper, prefix });
    const last = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const flipped = last[(last.indexOf(minted.secret.at(-1) ?? '') ^ 1) & 31];
    for (const text of ['', 'vk-lw-', minted.secret.slice(0, -1) + flipped, minted.secret.toLowerCase()]) {
      expect(await check(text, 0)).toEqual({ kind: 'unknown' });
    }
    expect(reads).toBe(0);
  });

  it('is in the first header that has its shape', () => {
    const read = (headers: { readonly [name: string]: string }) => readVirtualKey((name) => headers[name], prefix);
    const { secret } = minted;
    const other = mintVirtualKeySecret(prefix, { pepper, random: randomBytes }).secret;
    expect(read({})).toBeNull();
    expect(read({ authorization: `Bearer ${secret}`, 'x-api-key': other })).toBe(secret);
    expect(read({ authorization: `bearer  ${secret} ` })).toBe(secret);
    expect(read({ authorization: 'Bearer sk-of-openai', 'x-api-key': secret, 'api-key': other })).toBe(secret);
    expect(read({ authorization: `Basic ${secret}`, 'api-key': ` ${secret} ` })).toBe(secret);
    expect(read({ authorization: 'Bearer sk-of-openai' })).toBeNull();
  });
});

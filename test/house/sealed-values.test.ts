import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url).pathname;

/**
 * The modules that seal values with a key of the root secret. What they store MUST be among the columns of
 * storage/management/sealed-values.ts, for else a rotation of the secret makes it unreadable: add both together.
 */
const SEALING = [
  // Storage: webhook_endpoints.
  'domain/endpoints/endpoint-secrets.ts',
  // Storage: idempotency_receipts.
  'domain/management/idempotency.ts',
  // Storage: model_providers.
  'domain/model-providers/provider-key.ts',
  // The pepper, which the rotation seals itself.
  'domain/organization/secret-rotation.ts',
  // Storage: triggers.
  'domain/triggers/action-params.ts',
  // Nothing stored: a cookie of ten minutes.
  'sign-in/sign-in.ts',
];

it('every module that seals values is known to the rotation of the secret', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const sealing = files.filter((file) => {
    const imported =
      /import \{([^}]*)\} from '[^']*\/secrets\.ts'/.exec(readFileSync(SOURCES + file, 'utf8'))?.[1] ?? '';
    return /\b(encrypt|sealFor)\b/.test(imported);
  });
  expect(sealing.sort()).toEqual(SEALING);
});

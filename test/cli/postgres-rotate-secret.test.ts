import { expect, it } from 'vitest';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { startApp } from '../support/app.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { openEverything, repeatable, sealEverything } from './rotating.ts';
import { runCliProcess } from './run-cli.ts';

const NEW_SECRET = 'the secret that replaces the other one';

it('on PostgreSQL the secret is replaced beside running servers, which know both', async () => {
  const first = await startApp();
  const database = { ...first.database, remove: async () => undefined };
  const both = { SPANDREL_SECRET: NEW_SECRET, SPANDREL_SECRET_PREVIOUS: TEST_SECRET };
  const second = await startApp({ database, environment: both });
  const keys = { adminKey: first.adminKey, projectKey: first.projectKey };
  try {
    const made = await sealEverything(first);
    expect(await repeatable({ ...second, ...keys })).toEqual(made);
    const { code, stdout, stderr } = await runCliProcess(['rotate-secret'], { ...database.environment, ...both });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^7 stored values are sealed with the new secret/);
    expect(await repeatable({ ...second, ...keys })).toEqual(made);
    const third = await startApp({ database, environment: { SPANDREL_SECRET: NEW_SECRET } });
    try {
      expect(await repeatable({ ...third, ...keys })).toEqual(made);
      const opened = await openEverything(third, deriveRootKeys(NEW_SECRET).encryptionKeys);
      expect([...opened.values()].flat()).toHaveLength(7);
    } finally {
      await third.close();
    }
    await expect(startApp({ database, environment: { SPANDREL_SECRET: TEST_SECRET } })).rejects.toThrow(
      /does not belong to this database/,
    );
  } finally {
    await second.close();
    await first.close();
  }
});

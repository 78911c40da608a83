import { expect, it } from 'vitest';
import { spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { runCliProcess } from './run-cli.ts';

it('on PostgreSQL a key is minted beside running servers, which accept it at once', async () => {
  const database = await createTestDatabase();
  const server = await spawnServer(database.environment);
  try {
    const { code, stdout, stderr } = await runCliProcess(
      ['mint-admin-key', '--email', 'admin@localhost'],
      database.environment,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    expect((await callRest(server.address, { path: '/api/audit-log', headers })).status).toBe(200);
  } finally {
    await server.stop('SIGKILL');
    await database.remove();
  }
});

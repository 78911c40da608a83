import { expect, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { runCliProcess } from './run-cli.ts';

it('on PostgreSQL a key is minted beside running servers, which accept it at once', async () => {
  const server = await startApp();
  const { environment } = server.database;
  try {
    const { code, stdout, stderr } = await runCliProcess(['mint-admin-key', '--email', 'admin@localhost'], environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    expect((await callRest(server.address, { path: '/api/audit-log', headers })).status).toBe(200);
  } finally {
    await server.close();
  }
});

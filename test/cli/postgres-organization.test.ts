import { expect, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { callRest } from '../support/surfaces.ts';
import { runCliProcess } from './run-cli.ts';

it('on PostgreSQL an organization is made beside running servers, which accept its keys at once', async () => {
  const server = await startApp();
  const { environment } = server.database;
  try {
    const create = ['organization', 'create', '--name', 'Second', '--admin-email', 'ann@example.com'];
    const { code, stdout, stderr } = await runCliProcess(create, environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const printed = new Map(
      [...stdout.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
    );
    const ask = (path: string, token: string) =>
      callRest(server.address, { path, headers: { authorization: `Bearer ${token}` } });
    const { status, body } = await ask('/api/organization', printed.get('SPANDREL_ADMIN_KEY') ?? '');
    expect([status, body.id]).toEqual([200, printed.get('SPANDREL_ORGANIZATION_ID')]);
    const evaluator = await ask('/api/evaluators/none', printed.get('SPANDREL_PROJECT_KEY') ?? '');
    expect(evaluator.body.code).toBe('evaluator_not_found');
    expect((await ask('/api/organization', server.adminKey)).body.id).not.toBe(body.id);
  } finally {
    await server.close();
  }
});

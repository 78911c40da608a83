import { describe, expect, it } from 'vitest';
import { ApiKeyScope, ApiKeyService } from '../../gen/spandrel/v1/keys_pb.js';
import { TeamService } from '../../gen/spandrel/v1/organization_pb.js';
import { Fault } from '../../src/domain/fault.ts';
import { commitOptimistically } from '../../src/domain/management/optimistic-commit.ts';
import { createPipeline, ORGANIZATION_ID, type Pipeline, type Sent } from '../support/pipeline.ts';

const KEY = 'a key of 16 char';
const ADMIN: Sent = { as: 'admin', key: KEY };

/** Creates teams with a new id each time, stored together with the receipt. */
function createTeams() {
  let runs = 0;
  const behind: { fault: Fault | null; hold: Promise<void> } = { fault: null, hold: Promise.resolve() };
  const pipeline: Pipeline<typeof TeamService> = createPipeline(TeamService, {
    createTeam: {
      handle: async ({ name }, context) => {
        await behind.hold;
        return commitOptimistically(pipeline.store, ORGANIZATION_ID, {
          attempt: async () => {
            context.replay?.pass();
            runs += 1;
            if (behind.fault) throw behind.fault;
            const result = { team: { id: `team_${runs}`, name: name ?? '' } };
            const receipt = context.receipt(result);
            return { result, change: { audit: [], ...(receipt ? { receipt } : {}) } };
          },
        });
      },
    },
  });
  const create = (name: string, sent: Sent = ADMIN) => pipeline.call('createTeam', { name }, sent);
  return { ...pipeline, create, behind, runs: () => runs };
}

async function faultOf(call: Promise<unknown>): Promise<Fault> {
  return call.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: Fault) => error,
  );
}

describe('a request with an idempotency key', () => {
  it('has its effect once, and the same answer every time', async () => {
    const teams = createTeams();
    const first = await teams.create('a');
    const second = await teams.create('a');
    expect(first).toMatchObject({ message: { team: { id: 'team_1' } }, headers: {} });
    expect(second).toEqual({ message: first.message, headers: { 'x-idempotent-replay': 'true' } });
    expect(teams.runs()).toBe(1);
    expect(teams.store.changes).toHaveLength(1);
  });

  it('without one has its effect every time', async () => {
    const teams = createTeams();
    await teams.create('a', { as: 'admin' });
    expect(await teams.create('a', { as: 'admin' })).toMatchObject({ message: { team: { id: 'team_2' } } });
    expect(teams.store.calls.get('claim')).toBeUndefined();
    expect(teams.store.changes.every((change) => change.receipt === undefined)).toBe(true);
  });

  it('is another one with another body', async () => {
    const teams = createTeams();
    await teams.create('a');
    const fault = await faultOf(teams.create('b'));
    expect(fault).toMatchObject({ code: 'idempotency_error', meta: { reason: 'body_mismatch' } });
    expect(teams.runs()).toBe(1);
  });

  it('is another one with another calling key', async () => {
    const teams = createTeams();
    await teams.create('a');
    expect(await teams.create('b', { as: 'other', key: KEY })).toMatchObject({ headers: {} });
  });

  it('does not wait for a first one that is still running', async () => {
    const teams = createTeams();
    const { promise, resolve } = Promise.withResolvers<void>();
    teams.behind.hold = promise;
    const first = teams.create('a');
    const fault = await faultOf(teams.create('a'));
    expect(fault).toMatchObject({ meta: { reason: 'in_progress' }, headers: { 'retry-after': '1' } });
    resolve();
    expect(await first).toMatchObject({ message: { team: { id: 'team_1' } } });
  });

  it('is free again after a refusal', async () => {
    const teams = createTeams();
    teams.behind.fault = new Fault('team_name_taken', 'There is such a team.');
    expect((await faultOf(teams.create('a'))).code).toBe('team_name_taken');
    teams.behind.fault = null;
    expect(await teams.create('b')).toMatchObject({ message: { team: { name: 'b' } }, headers: {} });
  });

  it('is free again after a bug', async () => {
    const teams = createTeams();
    teams.behind.hold = Promise.reject(new TypeError('a bug'));
    expect((await faultOf(teams.create('a'))).code).toBe('internal_error');
    teams.behind.hold = Promise.resolve();
    expect(await teams.create('a')).toMatchObject({ message: { team: { id: 'team_1' } } });
  });

  it('is free again where nothing had to be stored', async () => {
    const keys = createPipeline(ApiKeyService, { rotateApiKey: { handle: async () => ({ token: 't' }) } });
    const rotate = () => keys.call('rotateApiKey', { id: 'key1' }, ADMIN);
    expect(await rotate()).toMatchObject({ headers: {} });
    expect(await rotate()).toMatchObject({ headers: {} });
  });

  it('returns what the successful attempt stored', async () => {
    const teams = createTeams();
    teams.store.beforeCommit(async () => {
      await teams.create('z', { as: 'other' });
    });
    const first = await teams.create('a');
    expect(first).toMatchObject({ message: { team: { id: 'team_3', name: 'a' } } });
    expect((await teams.create('a')).message).toEqual(first.message);
  });

  it('is not replayed by a handler that checks no caller', async () => {
    const keys = createPipeline(ApiKeyService, {
      rotateApiKey: {
        handle: async (_, context) => {
          const receipt = context.receipt({ token: 't' });
          const change = { organizationId: ORGANIZATION_ID, expectedVersion: 0, audit: [] };
          if (receipt) await keys.store.commit({ ...change, receipt });
          return { token: 't' };
        },
      },
    });
    const rotate = () => keys.call('rotateApiKey', { id: 'key1' }, ADMIN);
    expect(await rotate()).toMatchObject({ message: { token: 't' } });
    expect((await faultOf(rotate())).code).toBe('internal_error');
  });

  it('is checked after the permission, which is checked every time', async () => {
    const teams = createTeams();
    await teams.create('a');
    expect((await faultOf(teams.create('a', { as: 'viewer', key: KEY }))).code).toBe('insufficient_permissions');
    expect((await faultOf(teams.create('a', { as: 'viewer', key: '' }))).code).toBe('insufficient_permissions');
  });

  it('is trimmed, and has 8 to 255 printable characters', async () => {
    const teams = createTeams();
    await teams.create('a', { as: 'admin', key: '  12345678  ' });
    expect(await teams.create('a', { as: 'admin', key: '12345678' })).toMatchObject({
      headers: { 'x-idempotent-replay': 'true' },
    });
    expect(await teams.create('a', { as: 'admin', key: 'x'.repeat(255) })).toMatchObject({ headers: {} });
    for (const key of ['', '1234567', ' 1234567 ', 'x'.repeat(256), 'schlüssel-1', '1234\t5678']) {
      const { code, meta } = await faultOf(teams.create('a', { as: 'admin', key }));
      expect(code, key).toBe('validation_error');
      expect(meta).toMatchObject({
        target: 'header',
        fields: ['Idempotency-Key'],
        reasons: [{ meta: { type: 'invalid_length', expected: '8 to 255 characters' } }],
      });
    }
  });

  it('that is unusable is reported together with the other problems of the request', async () => {
    const teams = createTeams();
    const fault = await faultOf(teams.create('', { as: 'admin', key: 'short' }));
    expect(fault.meta).toMatchObject({ target: 'header', fields: ['Idempotency-Key', 'name'] });
  });

  it('means nothing where no effect is created', async () => {
    const teams = createTeams();
    expect(await teams.call('listTeams', {}, { as: 'admin', key: 'short' })).toMatchObject({ headers: {} });
  });
});

describe('the audit log records', () => {
  const missing = {
    handle: async () => {
      throw new Fault('api_key_not_found', 'API key not found.');
    },
  };
  const keys = () =>
    createPipeline(ApiKeyService, {
      getApiKey: missing,
      updateApiKey: missing,
      revokeApiKey: missing,
      rotateApiKey: missing,
    });

  it('a refused permission, the caller and the address', async () => {
    const { call, refused } = keys();
    const headers = { 'user-agent': 'curl/8' };
    await faultOf(call('createApiKey', { name: 'a' }, { as: 'viewer', headers }));
    expect(refused).toEqual([
      {
        actor: {
          organizationId: ORGANIZATION_ID,
          actorKind: 'service_key',
          actorUserId: null,
          actorKeyId: 'viewerKey',
          ip: '192.0.2.7',
          userAgent: 'curl/8',
          requestId: 'req_1',
          traceId: 'a'.repeat(32),
        },
        audited: {
          action: 'apiKey.create',
          targetId: null,
          status: 403,
          code: 'insufficient_permissions',
        },
      },
    ]);
  });

  it.each([
    ['getApiKey', 'apiKey.read'],
    ['updateApiKey', 'apiKey.update'],
    ['revokeApiKey', 'apiKey.revoke'],
    ['rotateApiKey', 'apiKey.rotate'],
  ] as const)('of a key that was not found by %s', async (name, action) => {
    const { call, refused } = keys();
    await faultOf(call(name, { id: 'key\0one' }, { as: 'admin' }));
    expect(refused.map(({ audited }) => audited)).toEqual([
      { action, targetId: 'key\uFFFDone', status: 404, code: 'api_key_not_found' },
    ]);
  });

  it('refused project keys on routes of an organization', async () => {
    const { call, refused, used } = keys();
    expect((await faultOf(call('listApiKeys', {}, { as: 'project' }))).code).toBe('credential_class_mismatch');
    expect(refused).toMatchObject([
      {
        actor: { actorKind: 'project_key', actorUserId: null, actorKeyId: 'project_1' },
        audited: { action: 'apiKey.read', targetId: null, status: 401, code: 'credential_class_mismatch' },
      },
    ]);
    expect(used).toEqual([]);
  });

  it('a refused list like a refused read', async () => {
    const pipeline = createPipeline(ApiKeyService, {
      listApiKeys: {
        handle: async () => {
          throw new Fault('insufficient_permissions', 'Not the whole organization.');
        },
      },
    });
    await faultOf(pipeline.call('listApiKeys', { scope: ApiKeyScope.ORGANIZATION }, { as: 'admin' }));
    expect(pipeline.refused.map(({ audited }) => audited.action)).toEqual(['apiKey.read']);
  });

  it('no other failure', async () => {
    const { call, refused } = keys();
    await faultOf(call('createApiKey', { name: 'a' }, { as: 'nobody' }));
    await faultOf(call('rotateApiKey', { id: 'key1', overlapSeconds: -1 }, { as: 'admin' }));
    const teams = createPipeline(TeamService, {
      createTeam: {
        handle: async () => {
          throw new Fault('team_not_found', 'There is no such team.');
        },
      },
    });
    await faultOf(teams.call('createTeam', { name: 'a' }, { as: 'admin' }));
    const ended = createPipeline(ApiKeyService, {
      createApiKey: {
        handle: async () => {
          throw new Fault('invalid_credentials', 'The credential is not valid.');
        },
      },
    });
    await faultOf(ended.call('createApiKey', { name: 'a' }, { as: 'admin' }));
    expect([...refused, ...teams.refused, ...ended.refused]).toEqual([]);
  });
});

describe('the use of a key is noted', () => {
  it('once it is proven, also where the permission is missing', async () => {
    const { call, used } = createPipeline(TeamService, {});
    await call('listTeams', {}, { as: 'admin' });
    await faultOf(call('createTeam', { name: 'a' }, { as: 'viewer' }));
    await faultOf(call('listTeams', {}, { as: 'nobody' }));
    expect(used).toEqual(['adminKey', 'viewerKey']);
  });
});

describe('an instant in a message', () => {
  it('must be one of the calendar', async () => {
    const { call } = createPipeline(ApiKeyService, {});
    for (const at of [{ seconds: 253_402_300_800n }, { seconds: -62_135_596_801n }, { nanos: -1 }, { nanos: 1e9 }]) {
      const fault = await faultOf(call('createApiKey', { name: 'a', expiry: { at } }, { as: 'admin' }));
      expect(fault.meta).toMatchObject({ fields: ['expiresAt'], reasons: [{ meta: { type: 'invalid_format' } }] });
    }
    await call('createApiKey', { name: 'a', expiry: { at: { seconds: 253_402_300_799n } } }, { as: 'admin' });
  });
});

describe('the precheck of a handler', () => {
  it('refuses before the fields of the request are validated', async () => {
    const { call } = createPipeline(TeamService, {
      createTeam: {
        precheck: async () => {
          throw new Fault('project_not_found', 'There is no such project.');
        },
        handle: async () => ({}),
      },
    });
    expect((await faultOf(call('createTeam', { name: '' }, ADMIN))).code).toBe('project_not_found');
  });
});

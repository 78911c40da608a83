import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TriggerAction, TriggerService } from '../../../gen/spandrel/v1/triggers_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { createClient, ERROR_SHARE, ON_ERRORS } from './triggers-client.ts';

let app: TestApp;
const client = createClient(() => app);
const { make, read, rest } = client;
const SLACK = 'https://hooks.slack.example/services/T000/B000/secret-of-slack';

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

describe('a trigger', () => {
  it('is created with what it has by default, read, listed and deleted', async () => {
    const made = await make(ON_ERRORS);
    expect(made).toMatchObject({
      name: 'Any error',
      kind: 'trace',
      active: true,
      filters: { 'traces.error': ['true'] },
      query: '',
      alertType: null,
      message: null,
      action: 'SEND_WEBHOOK',
      actionParams: {},
      cadence: 'immediate',
      series: null,
      operator: null,
      thresholds: null,
      windowMinutes: null,
      state: { status: 'OK', reason: null },
      platformUrl: `${app.address}/${await slug()}/triggers/${made.id}`,
    });
    expect(made.id).toMatch(/^trigger_[0-9A-Za-z]{21}$/);
    await expectEverywhere(
      app.address,
      client.get(made.id, { status: 200, check: (body) => expect(body).toEqual(made) }),
    );
    const metric = await make(ERROR_SHARE);
    expect(metric).toMatchObject({
      series: { metric: 'errors', aggregation: 'share', groupBy: 'none' },
      thresholds: { warning: null, alert: 5 },
      windowMinutes: 5,
      recoveryWindows: 1,
      noData: 'keep',
      renotifyMinutes: null,
      state: { status: 'NO_DATA', value: null },
    });
    const listed = async () => (await rest('GET', '/api/triggers')).body.map(({ id }: Body) => id);
    expect(await listed()).toEqual([metric.id, made.id]);
    expect(await rest('DELETE', `/api/triggers/${made.id}`)).toMatchObject({
      status: 200,
      body: { id: made.id, deleted: true },
    });
    await expectEverywhere(app.address, client.get(made.id, { status: 404, code: 'trigger_not_found' }));
    await expectEverywhere(app.address, client.remove(made.id, { status: 404, code: 'trigger_not_found' }));
    expect(await listed()).toEqual([metric.id]);
    const log = await audit();
    expect(log.filter(({ targetId }) => targetId === made.id).map(({ action }) => action)).toEqual([
      'trigger.delete',
      'trigger.create',
    ]);
  });

  it('answers the same over REST and gRPC', async () => {
    const created = { status: 201, check: (body: Body) => expect(body.action).toBe('SEND_WEBHOOK') };
    await expectEverywhere(app.address, client.create({ ...ON_ERRORS, cadence: '5min' }, created));
    await expectEverywhere(
      app.address,
      client.create({ ...ERROR_SHARE, alertType: 'CRITICAL', noData: 'alert' }, created),
    );
    await expectEverywhere(
      app.address,
      client.list({ status: 200, check: (body) => expect(body.length).toBeGreaterThan(3) }),
    );
  });

  it('changes only what is sent, and removes what is sent as null', async () => {
    const { id } = await make({ ...ERROR_SHARE, alertType: 'INFO', message: 'Look', renotifyMinutes: 60 });
    const { status, body } = await rest('PATCH', `/api/triggers/${id}`, {
      alertType: null,
      message: null,
      renotifyMinutes: null,
      thresholds: { warning: 2, alert: 10 },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ alertType: null, message: null, renotifyMinutes: null, name: ERROR_SHARE.name });
    expect(body.thresholds).toEqual({ warning: 2, alert: 10 });
    expect(body.series).toEqual({ metric: 'errors', aggregation: 'share', groupBy: 'none' });
    await expectEverywhere(
      app.address,
      client.update(id, { name: 'Renamed' }, { status: 200, check: (sent) => expect(sent.name).toBe('Renamed') }),
    );
    await expectEverywhere(
      app.address,
      client.update('trigger_unknown', { name: 'x' }, { status: 404, code: 'trigger_not_found' }),
    );
  });

  it('is paused by a person with the reason, and begins again without a known state', async () => {
    const { id } = await make(ERROR_SHARE);
    const paused = (await rest('PATCH', `/api/triggers/${id}`, { active: false })).body;
    expect(paused).toMatchObject({ active: false, state: { status: 'PAUSED' } });
    expect(paused.state.reason).toContain('switched off');
    const resumed = (await rest('PATCH', `/api/triggers/${id}`, { active: true })).body;
    expect(resumed).toMatchObject({ active: true, state: { status: 'NO_DATA', reason: null } });
    const events = await client.history(id);
    expect(events.slice(-2).map(({ kind, status, delivery }) => [kind, status, delivery])).toEqual([
      ['changed', 'NO_DATA', 'none'],
      ['changed', 'PAUSED', 'none'],
    ]);
    const first = (await rest('GET', `/api/triggers/${id}/history?limit=1`)).body;
    expect(first.data).toHaveLength(1);
    await expectEverywhere(
      app.address,
      client.listHistory(id, first.next_cursor, { status: 200, check: (body) => expect(body.data).toHaveLength(1) }),
    );
    await expectEverywhere(app.address, client.listHistory(id, 'x', { status: 422, code: 'invalid_cursor' }));
  });

  it('keeps the URL of Slack to itself, over a change of other fields too', async () => {
    const { id, actionParams } = await make({
      ...ON_ERRORS,
      action: 'SEND_SLACK_MESSAGE',
      actionParams: { slackWebhook: SLACK },
    });
    expect(actionParams).toEqual({ slackWebhookHint: '…lack' });
    expect(JSON.stringify(await read(id))).not.toContain('secret-of-slack');
    const changed = await rest('PATCH', `/api/triggers/${id}`, { name: 'Other', actionParams });
    expect(changed.body).toMatchObject({ name: 'Other', actionParams: { slackWebhookHint: '…lack' } });
    const stored = await app.store.triggers.find(app.projectId, id);
    expect(stored?.secret).not.toBeNull();
    expect(Buffer.from(stored?.secret ?? []).toString('latin1')).not.toContain('secret-of-slack');
  });

  const bad: readonly (readonly [object, string])[] = [
    [{ ...ON_ERRORS, name: ' ' }, 'name'],
    [{ ...ON_ERRORS, name: 'x'.repeat(129) }, 'name'],
    [{ ...ON_ERRORS, filters: {} }, 'filters'],
    [{ ...ON_ERRORS, filters: {}, query: 'refund' }, 'filters'],
    [{ ...ON_ERRORS, filters: { 'traces.eror': ['true'] } }, 'filters.traces.eror'],
    [{ ...ON_ERRORS, windowMinutes: 5 }, 'windowMinutes'],
    [{ ...ON_ERRORS, message: 'x'.repeat(16_385) }, 'message'],
    [{ ...ON_ERRORS, actionParams: { datasetId: 'x' } }, 'actionParams.datasetId'],
    [{ ...ON_ERRORS, action: 'SEND_EMAIL', actionParams: { members: [] } }, 'actionParams.members'],
    [{ ...ON_ERRORS, action: 'ADD_TO_DATASET', actionParams: { datasetId: '' } }, 'actionParams.datasetId'],
    [{ ...ON_ERRORS, action: 'SEND_SLACK_MESSAGE' }, 'actionParams.slackWebhook'],
    [
      { ...ON_ERRORS, action: 'SEND_SLACK_MESSAGE', actionParams: { slackWebhook: 'https://127.0.0.1/x' } },
      'actionParams.slackWebhook',
    ],
    [{ ...ERROR_SHARE, series: undefined }, 'series'],
    [{ ...ERROR_SHARE, series: { metric: 'error', aggregation: 'share' } }, 'series.metric'],
    [{ ...ERROR_SHARE, series: { metric: 'errors', aggregation: 'p95' } }, 'series.aggregation'],
    [{ ...ERROR_SHARE, series: { ...ERROR_SHARE.series, groupBy: 'colour' } }, 'series.groupBy'],
    [{ ...ERROR_SHARE, filters: { 'traces.name': ['x'] } }, 'filters.traces.name'],
    [{ ...ERROR_SHARE, filters: { 'spans.model': ['a', 'b'] } }, 'filters.spans.model'],
    [{ ...ERROR_SHARE, thresholds: { warning: 6, alert: 5 } }, 'thresholds.warning'],
    [{ ...ERROR_SHARE, windowMinutes: 7 }, 'windowMinutes'],
    [{ ...ERROR_SHARE, recoveryWindows: 61 }, 'recoveryWindows'],
    [{ ...ERROR_SHARE, renotifyMinutes: 1 }, 'renotifyMinutes'],
    [{ ...ERROR_SHARE, cadence: 'hourly' }, 'cadence'],
    [{ ...ERROR_SHARE, query: 'text' }, 'query'],
    [{ ...ERROR_SHARE, action: 'ADD_TO_DATASET', actionParams: { datasetId: 'x' } }, 'action'],
  ];
  it.each(bad)('%j is refused because of %s', async (body, field) => {
    const check = ({ fields, reasons }: Body) => {
      const named = fields ?? reasons?.map((each: Body) => each.meta.field);
      expect(named).toContain(field);
    };
    await expectEverywhere(
      app.address,
      client.create(JSON.parse(JSON.stringify(body)), { status: 422, code: 'validation_error', check }),
    );
  });

  it.each([
    [{ filters: { 'traces.error': [true] } }, 'filters.traces.error.0'],
    [{ filters: [] }, 'filters'],
    [{ actionParams: { url: 'x' } }, 'actionParams.url'],
    [{ action: 'SEND_EMAIL', actionParams: { members: 'ada@example.com' } }, 'actionParams.members'],
    [{ action: 'ADD_TO_DATASET', actionParams: { datasetId: 5 } }, 'actionParams.datasetId'],
  ])('%j, which only JSON can say, is refused because of %s', async (wrong, field) => {
    const body = { ...ON_ERRORS, ...wrong };
    const answer = await callRest(app.address, {
      ...{ verb: 'POST', path: '/api/triggers', body },
      headers: { 'x-auth-token': app.projectKey },
    });
    expect([answer.status, answer.body.fields], answer.text).toEqual([422, [field]]);
  });

  it.each([
    ['traces.error must be sent once', ['true', 'false'].map((value) => ({ name: 'traces.error', values: [value] }))],
    ['metadata.value.team must not contain U+0000', [{ name: 'metadata.value', key: 'team', values: ['\0'] }]],
  ])('of which filters.%s is refused over gRPC', async (message, filters) => {
    const refused = await callRpc(app.address, {
      method: TriggerService.method.createTrigger,
      request: { name: 'Twice', action: TriggerAction.SEND_WEBHOOK, filters },
      headers: { 'x-auth-token': app.projectKey },
    });
    expect(JSON.stringify(refused)).toContain(`filters.${message}`);
  });

  it('does nothing that its maker may not do', async () => {
    const scope = ['PROJECT', app.projectId] as const;
    const headers = async (permissions: readonly string[]) => ({
      authorization: `Bearer ${await addKey(app, { bindings: [custom(...scope, ['triggers:create', ...permissions])] })}`,
      'x-project-id': app.projectId,
    });
    const make = async (body: object, permissions: readonly string[]) => {
      const answer = await callRest(app.address, {
        ...{ verb: 'POST', path: '/api/triggers', body },
        headers: await headers(permissions),
      });
      return [answer.status, answer.body.code ?? null];
    };
    const denied = [403, 'api_key_permission_denied'];
    expect(await make({ ...ON_ERRORS, name: 'Sees none' }, [])).toEqual(denied);
    expect(await make({ ...ON_ERRORS, name: 'Sees them' }, ['traces:view'])).toEqual([201, null]);
    expect(await make({ ...ERROR_SHARE, name: 'No sums' }, ['traces:view'])).toEqual(denied);
    const dataset = { ...ON_ERRORS, action: 'ADD_TO_DATASET', actionParams: { datasetId: 'dataset_1' } };
    expect(await make(dataset, ['traces:view', 'datasets:view'])).toEqual(denied);
    expect(await make(dataset, ['traces:view', 'datasets:update'])).toEqual([404, 'dataset_not_found']);
    const queue = { ...ON_ERRORS, action: 'ADD_TO_ANNOTATION_QUEUE', actionParams: { queueId: 'queue_1' } };
    expect(await make(queue, ['traces:view'])).toEqual(denied);
  });

  it('is steered to other traces only by who may do what it does, and renamed or switched off by others, too', async () => {
    const { id } = await make({ ...ON_ERRORS, name: 'Steered' });
    const scope = ['PROJECT', app.projectId] as const;
    const secretOf = (...permissions: readonly string[]) =>
      addKey(app, { bindings: [custom(...scope, ['triggers:view', 'triggers:update', ...permissions])] });
    const [bare, seeing] = [await secretOf(), await secretOf('traces:view')];
    const patch = async (secret: string, body: object) => {
      const headers = { authorization: `Bearer ${secret}`, 'x-project-id': app.projectId };
      const { status } = await callRest(app.address, { verb: 'PATCH', path: `/api/triggers/${id}`, body, headers });
      return status;
    };
    const others = { filters: { 'metadata.user_id': ['ceo'] } };
    expect(await patch(bare, { name: 'Renamed', message: 'Look' })).toBe(200);
    expect(await patch(bare, others)).toBe(403);
    expect(await patch(bare, { active: false })).toBe(200);
    expect(await patch(bare, { active: true })).toBe(403);
    expect(await patch(seeing, { ...others, active: true })).toBe(200);
  });

  it('is refused for what this server cannot do', async () => {
    const mail = { ...ON_ERRORS, action: 'SEND_EMAIL', actionParams: { members: ['a@example.com'] } };
    const queue = { ...ON_ERRORS, action: 'ADD_TO_ANNOTATION_QUEUE', actionParams: { queueId: 'queue_1' } };
    await expectEverywhere(app.address, client.create(mail, { status: 422, code: 'trigger_action_unavailable' }));
    await expectEverywhere(app.address, client.create(queue, { status: 404, code: 'annotation_queue_not_found' }));
    const dataset = { ...ON_ERRORS, action: 'ADD_TO_DATASET', actionParams: { datasetId: 'dataset_unknown' } };
    await expectEverywhere(app.address, client.create(dataset, { status: 404, code: 'dataset_not_found' }));
    const { id } = await make(ON_ERRORS);
    await expectEverywhere(
      app.address,
      client.update(id, { kind: 'metric' }, { status: 422, code: 'validation_error' }),
    );
  });
});

async function slug(): Promise<string> {
  const { status, body } = await rest('GET', '/api/projects', undefined, { authorization: `Bearer ${app.adminKey}` });
  expect(status).toBe(200);
  return body.data[0].slug;
}

async function audit(): Promise<Body[]> {
  const { body } = await rest('GET', '/api/audit-log?limit=200', undefined, {
    authorization: `Bearer ${app.adminKey}`,
  });
  return body.data;
}

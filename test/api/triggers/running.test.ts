import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { ignoreDatabaseClock } from '../../support/database-clock.ts';
import { hex } from '../../support/fixtures.ts';
import type { Body } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { create, type Receiver, startReceiver } from '../endpoints/endpoints-client.ts';
import { act } from '../organization/organization-client.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { createClient, ERROR_SHARE, ON_ERRORS } from './triggers-client.ts';

const MINUTE_MS = 60_000;
const SETTLE = { SPANDREL_MONITOR_SETTLE_MS: '20', SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: '60' };

let app: TestApp;
let mail: MailServer;
/** A whole minute, so that windows are those of the test. */
let nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
const client = createClient(() => app);
const { make, read, rest, history } = client;

beforeAll(async () => {
  mail = await startMailServer();
  app = await startApp({
    environment: {
      ...SETTLE,
      SPANDREL_WEBHOOK_ALLOW: '127.0.0.1',
      SPANDREL_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      SPANDREL_SMTP_FROM: 'Spandrel <alerts@example.com>',
    },
    clock: () => nowMs,
    wrapStore: ignoreDatabaseClock,
  });
  for (const email of ['ada@example.com', 'bob@example.com'])
    await act(app, 'POST', '/api/organization/members', { email, name: 'Member', role: 'MEMBER' });
});
afterAll(async () => {
  await app.close();
  await mail.close();
});

async function send({ isError = false, label = 'any', traceId = hex(32) } = {}): Promise<string> {
  const error = { has_error: true, message: 'broken', stacktrace: [] };
  const span = {
    span_id: 'root',
    type: 'llm',
    input: 'Say hello',
    output: 'Hello',
    timestamps: { started_at: nowMs - 1_000, finished_at: nowMs - 500 },
    ...(isError ? { error } : {}),
  };
  const metadata = { labels: [label] };
  const { status, text } = await rest('POST', '/api/collector', { trace_id: traceId, metadata, spans: [span] });
  expect(status, text).toBe(200);
  return traceId;
}

/** Waits until the trigger was evaluated for this minute. */
async function passMinute(id: string): Promise<Body> {
  nowMs += MINUTE_MS;
  let body: Body;
  await until(async () => {
    body = await read(id);
    return body.state.evaluatedAt !== null && Date.parse(body.state.evaluatedAt) >= nowMs;
  });
  return body.state;
}

const noJobs = () => until(async () => (await app.store.evaluationJobs.counts(10)).depth === 0);
const isSent = (id: string, count: number) =>
  until(async () => (await history(id)).filter(({ delivery }) => delivery === 'sent').length === count);

describe('a trigger on a metric', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
    return () => receiver.close();
  });

  const events = () => receiver.received.flatMap(({ body }) => JSON.parse(body).batch as Body[]);

  it('announces by webhook that the share of errors is above 5 % in 5 minutes, and that it is over, once each', async () => {
    const endpoint = await create(app, { url: receiver.url, enabled_events: ['alert.*'] });
    const everything = await startReceiver();
    await create(app, { url: everything.url, enabled_events: ['*', 'gateway.*'] });
    const { id } = await make({ ...ERROR_SHARE, filters: { 'metadata.labels': ['share'] }, alertType: 'CRITICAL' });
    nowMs += 10_000;
    for (let count = 0; count < 10; count += 1) await send({ label: 'share' });
    expect((await passMinute(id)).status).toBe('OK');
    await send({ label: 'share', isError: true });
    const alerted = await passMinute(id);
    expect(alerted.status).toBe('ALERT');
    expect(alerted.value).toBeCloseTo((1 / 11) * 100, 6);
    for (let count = 0; count < 3; count += 1) expect((await passMinute(id)).status).toBe('ALERT');
    nowMs += 2 * MINUTE_MS;
    await send({ label: 'share' });
    expect((await passMinute(id)).status).toBe('OK');
    await passMinute(id);
    await isSent(id, 2);
    await until(() => {
      // Attempts wait by this clock.
      nowMs += 100;
      return events().length === 2;
    });
    expect(events().map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']);
    expect(events()[0]).toMatchObject({
      data: { trigger_id: id, status: 'ALERT', alert_type: 'CRITICAL', metric: 'errors', alert_threshold: 5 },
    });
    const told = (await history(id)).map(({ kind, status }) => `${kind} ${status}`);
    expect(told).toEqual(['resolved OK', 'fired ALERT', 'changed OK']);
    expect(everything.received).toEqual([]);
    const listed = await rest('GET', '/api/events?limit=10', undefined, { authorization: `Bearer ${app.adminKey}` });
    expect(JSON.stringify(listed.body)).not.toContain('alert.');
    expect(endpoint.enabled_events).toEqual(['alert.*']);
    await everything.close();
  });

  it('says why a metric could not be computed, and is paused after 100 notifications in an hour', async () => {
    const { id } = await make({
      ...ERROR_SHARE,
      series: { metric: 'traces', aggregation: 'sum' },
      operator: 'gte',
      thresholds: { alert: 0 },
    });
    expect((await passMinute(id)).status).toBe('ALERT');
    await isSent(id, 1);
    for (let count = 0; count < 99; count += 1) {
      const { length } = await history(id);
      await app.store.triggers.fire({
        projectId: app.projectId,
        firings: [
          { triggerId: id, traceId: `trace-${count}`, eventId: `alert_${count}`, dueAtMs: nowMs, isDigest: false },
        ],
        nowMs,
        pauseIds: ['alert_pause'],
      });
      expect((await history(id)).length).toBe(Math.min(length + 1, 200));
    }
    await app.store.triggers.fire({
      projectId: app.projectId,
      firings: [{ triggerId: id, traceId: 'trace-last', eventId: 'alert_last', dueAtMs: nowMs, isDigest: false }],
      nowMs,
      pauseIds: ['alert_pause'],
    });
    const { active, state } = await read(id);
    expect(active).toBe(false);
    expect(state).toMatchObject({ status: 'PAUSED' });
    expect(state.reason).toContain('100 notifications');
    expect((await rest('PATCH', `/api/triggers/${id}`, { active: true })).body.state.status).toBe('NO_DATA');
    await rest('DELETE', `/api/triggers/${id}`);
  });
});

describe('a trigger on traces', () => {
  it('fires once for each trace that matches, also when it changes later, and not for what was stored before', async () => {
    await send({ isError: true });
    await noJobs();
    const { id } = await make(ON_ERRORS);
    nowMs += 1_000;
    const [bad] = [await send({ isError: true }), await send()];
    nowMs += 5_000;
    await noJobs();
    await isSent(id, 1);
    await send({ isError: true, traceId: bad });
    nowMs += 5_000;
    await noJobs();
    const events = await history(id);
    expect(events.map(({ traceIds, kind }) => [kind, traceIds])).toEqual([['fired', [bad]]]);
    await rest('DELETE', `/api/triggers/${id}`);
  });

  it('asks for results of evaluations that come after the trace', async () => {
    const { id } = await make({ ...ON_ERRORS, filters: { 'evaluations.passed': { judge: ['false'] } } });
    const traceId = await send();
    nowMs += 5_000;
    await noJobs();
    expect(await history(id)).toEqual([]);
    const evaluation = {
      evaluation_id: 'e1',
      name: 'judge',
      evaluator_id: 'judge',
      status: 'processed',
      passed: false,
    };
    const { status, text } = await rest('POST', '/api/collector', {
      trace_id: traceId,
      spans: [],
      evaluations: [evaluation],
    });
    expect(status, text).toBe(200);
    nowMs += 5_000;
    await noJobs();
    expect((await history(id)).map(({ traceIds }) => traceIds)).toEqual([[traceId]]);
    await rest('DELETE', `/api/triggers/${id}`);
  });

  it('tells of all traces of five minutes at once', async () => {
    const { id } = await make({ ...ON_ERRORS, filters: { 'metadata.labels': ['digest'] }, cadence: '5min' });
    nowMs = Math.ceil(nowMs / (5 * MINUTE_MS)) * 5 * MINUTE_MS + 1_000;
    const first = await send({ label: 'digest' });
    const second = await send({ label: 'digest' });
    nowMs += 2_000;
    await noJobs();
    expect((await history(id)).map(({ delivery, traceCount }) => [delivery, traceCount])).toEqual([['pending', 2]]);
    nowMs += 6 * MINUTE_MS;
    await isSent(id, 1);
    const [{ traceIds }] = (await history(id)) as [Body];
    expect(traceIds.toSorted()).toEqual([first, second].toSorted());
    await rest('DELETE', `/api/triggers/${id}`);
  });

  it('adds the trace to a dataset', async () => {
    const dataset = (await rest('POST', '/api/dataset', { name: 'Bad answers', entries: [] })).body;
    const { id } = await make({
      ...ON_ERRORS,
      filters: { 'metadata.labels': ['keep'] },
      action: 'ADD_TO_DATASET',
      actionParams: { datasetId: dataset.id },
    });
    await send({ label: 'keep' });
    nowMs += 5_000;
    await noJobs();
    await isSent(id, 1);
    const { body } = await rest('GET', `/api/dataset/${dataset.id}`);
    expect(JSON.stringify(body)).toContain('Say hello');
    await rest('DELETE', `/api/triggers/${id}`);
  });

  it('posts to Slack under one id over all attempts', async () => {
    const received: { readonly key: string | string[] | undefined; readonly body: string }[] = [];
    const slack = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        received.push({ key: request.headers['idempotency-key'], body: Buffer.concat(parts).toString() });
        response.writeHead(received.length === 1 ? 503 : 200).end('ok');
      });
    });
    await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(slack.address() as AddressInfo).port}/services/x`;
    const { id } = await make({
      ...ON_ERRORS,
      name: 'A & <B>',
      message: 'Look at this',
      filters: { 'metadata.labels': ['slack'] },
      action: 'SEND_SLACK_MESSAGE',
      actionParams: { slackWebhook: url },
    });
    const traceId = await send({ label: 'slack' });
    nowMs += 5_000;
    await noJobs();
    await until(() => received.length === 1);
    await until(async () => (await history(id))[0]?.error === 'HTTP 503');
    nowMs += 60_000;
    await isSent(id, 1);
    expect(received).toHaveLength(2);
    const [event] = (await history(id)) as [Body];
    expect(received.map(({ key }) => key)).toEqual([event.id, event.id]);
    expect(event).toMatchObject({ attempts: 2, error: null });
    const { text } = JSON.parse(received[1]?.body ?? '{}');
    expect(text).toContain('A &amp; &lt;B&gt;: a trace');
    expect(text).toContain('Look at this');
    expect(text).toContain(traceId);
    await rest('DELETE', `/api/triggers/${id}`);
    await new Promise((resolve) => slack.close(resolve));
  });

  it('sends e-mails to members of the organization alone', async () => {
    const foreign = {
      ...{ ...ON_ERRORS, name: 'Spam', action: 'SEND_EMAIL' },
      actionParams: { members: ['ada@example.com', 'stranger@example.org'] },
    };
    const { status, body } = await rest('POST', '/api/triggers', foreign);
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(JSON.stringify(body)).toContain('active members of the organization');
  });

  it('sends an e-mail under one Message-ID, and gives up where the server refuses it for good', async () => {
    const { id } = await make({
      ...ON_ERRORS,
      name: 'Mail',
      filters: { 'metadata.labels': ['mail'] },
      action: 'SEND_EMAIL',
      actionParams: { members: ['ada@example.com', 'bob@example.com'] },
    });
    const traceId = await send({ label: 'mail' });
    nowMs += 5_000;
    await noJobs();
    await isSent(id, 1);
    const [event] = (await history(id)) as [Body];
    const [got] = mail.received;
    expect(got?.to).toEqual(['ada@example.com', 'bob@example.com']);
    expect(got?.text).toContain('Subject: Mail: a trace');
    expect(got?.text).toContain(`Message-ID: <${event.id}@example.com>`);
    expect(got?.text.replaceAll('=\n', '')).toContain(traceId);
    const members = await act(app, 'GET', '/api/organization/members');
    const bob = members.data.find(({ email }: Body) => email === 'bob@example.com');
    await act(app, 'PATCH', `/api/organization/members/${bob.user_id ?? bob.userId}`, { disabled: true });
    await send({ label: 'mail' });
    nowMs += 5_000;
    await isSent(id, 2);
    expect(mail.received[1]?.to).toEqual(['ada@example.com']);
    mail.refuse(550);
    await send({ label: 'mail' });
    nowMs += 5_000;
    await until(async () => (await history(id))[0]?.delivery === 'failed');
    expect((await history(id))[0]).toMatchObject({ error: 'SMTP 550', attempts: 1 });
    await rest('DELETE', `/api/triggers/${id}`);
  });
});

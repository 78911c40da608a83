import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedbackService } from '../../../gen/spandrel/v1/feedback_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const { trackEvent } = FeedbackService.method;
const DAY_MS = 86_400_000;

let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const get = (path: string) => callRest(app.address, { path, headers: key() });
const post = (path: string, body: object) => callRest(app.address, { verb: 'POST', path, body, headers: key() });

const vote = (traceId: string, value: number, more: object = {}) => ({
  trace_id: traceId,
  event_type: 'thumbs_up_down',
  metrics: { vote: value },
  ...more,
});

async function send(traceId = hex(32), more: object = {}): Promise<string> {
  const { status, text } = await post('/api/collector', { ...llmTrace(nowMs, traceId), ...more });
  expect(status, text).toBe(200);
  return traceId;
}

async function track(body: object, path = '/api/track_event'): Promise<void> {
  const { status, body: answer, text } = await post(path, body);
  expect([status, answer], text).toEqual([200, { message: 'Event tracked' }]);
}

const eventsOf = async (traceId: string): Promise<Body[]> => (await get(`/api/traces/${traceId}`)).body.events;

async function found(filters: object, more: object = {}): Promise<string[]> {
  const { status, body, text } = await post('/api/traces/search', { filters, ...more });
  expect(status, text).toBe(200);
  return body.traces.map((trace: Body) => trace.trace_id);
}

describe('an event of a user', () => {
  it('is shown with its trace, which may come later, in reads and in lists', async () => {
    const traceId = hex(32);
    await track(vote(traceId.toUpperCase(), 1, { event_details: { feedback: 'Helpful!', page: 3, kept: null } }));
    await send(traceId);
    await track({ trace_id: traceId, event_type: 'opened', metrics: {}, event_id: 'mine', timestamp: nowMs + 5 });
    const events = await eventsOf(traceId);
    expect(events).toEqual([
      {
        event_id: expect.stringMatching(/^event_[0-9A-Za-z]{21}$/),
        event_type: 'thumbs_up_down',
        project_id: app.projectId,
        trace_id: traceId,
        metrics: { vote: 1 },
        event_details: { feedback: 'Helpful!', page: 3 },
        timestamps: { started_at: nowMs, inserted_at: nowMs, updated_at: nowMs },
      },
      expect.objectContaining({ event_id: 'mine', metrics: {}, event_details: {} }),
    ]);
    const { body } = await post('/api/traces/search', { traceIds: [traceId] });
    expect(body.traces[0].events).toEqual(events);
    const exported = await post('/api/traces/export', { traceIds: [traceId], includeSpans: true });
    expect(exported.body.events).toEqual(events);
  });

  it('is taken alike over every surface and at its other address', async () => {
    const traceId = await send();
    const body = vote(traceId, -1, { event_id: 'once' });
    await expectEverywhere(app.address, {
      name: 'track',
      headers: key(),
      rest: { verb: 'POST', path: '/api/track_event', body },
      rpc: {
        method: trackEvent,
        request: { traceId, eventType: 'thumbs_up_down', metricsJson: '{"vote":-1}', eventId: 'once' },
      },
      status: 200,
      check: (answer) => expect(answer).toEqual({ message: 'Event tracked' }),
    });
    await track(body, '/api/events/track');
    expect(await eventsOf(traceId)).toHaveLength(1);
  });

  it('counts once under the id that the server gave it, as an export has it', async () => {
    const [traceId, other] = [await send(), await send()];
    await track(vote(traceId, 1));
    const [{ event_id: eventId }] = await eventsOf(traceId);
    await track(vote(traceId, 1, { event_id: eventId }));
    expect(await eventsOf(traceId)).toHaveLength(1);
    // Of another trace it is another event.
    await track(vote(other, 1, { event_id: eventId }));
    expect(await eventsOf(other)).toHaveLength(1);
  });

  it('counts once without an id too, when it is sent again within a second', async () => {
    const traceId = await send();
    await track(vote(traceId, 1, { event_details: { a: 'x', b: 2 } }));
    nowMs += 900;
    await track(vote(traceId, 1, { event_details: { b: 2, a: 'x' } }));
    await track(vote(traceId, 1));
    nowMs += 2_000;
    await track(vote(traceId, 1, { event_details: { a: 'x', b: 2 } }));
    expect(await eventsOf(traceId)).toHaveLength(3);
  });

  it.each([
    ['a vote of 2', { metrics: { vote: 2 } }, 'metrics.vote'],
    ['a thumb without a vote', { metrics: {} }, 'metrics.vote'],
    ['feedback that is not a text', { event_details: { feedback: 1 } }, 'event_details.feedback'],
    ['a selection without its length', { event_type: 'selected_text' }, 'metrics.text_length'],
    ['waiting without its end', { event_type: 'waited_to_finish', metrics: { finished: 2 } }, 'metrics.finished'],
    ['a type in upper case', { event_type: 'Opened' }, 'event_type'],
    ['a type that is too long', { event_type: 'a'.repeat(65) }, 'event_type'],
    ['a metric that is not a number', { event_type: 'opened', metrics: { vote: '1' } }, 'metrics.vote'],
    ['metrics that are a list', { event_type: 'opened', metrics: [1] }, 'metrics'],
    ['no metrics', { metrics: undefined }, 'metrics'],
    ['a detail that is an object', { event_details: { a: {} } }, 'event_details.a'],
    ['a detail of more than 16 KiB', { event_details: { a: 'x'.repeat(16_385) } }, 'event_details.a'],
    ['a timestamp in seconds', { timestamp: 1_700_000_000 }, 'timestamp'],
    ['a timestamp far ahead', { timestamp: Date.now() + 30 * DAY_MS }, 'timestamp'],
    ['an empty id', { event_id: '' }, 'event_id'],
    ['no trace', { trace_id: '' }, 'trace_id'],
  ])('is refused with %s', async (_name, more, field) => {
    const { status, body, text } = await post('/api/track_event', vote(hex(32), 1, more));
    expect([status, body.error], text).toEqual([422, 'validation_error']);
    expect(text).toContain(field);
  });

  it.each(['{', '['.repeat(5_000)])('is refused over RPC with metrics that are not JSON: %.9s', async (metricsJson) => {
    const request = { traceId: hex(32), eventType: 'opened', metricsJson };
    const refused = await callRpc(app.address, { method: trackEvent, request, headers: key() });
    expect(refused).toMatchObject({ ok: false, error: { code: 3, details: expect.stringContaining('metrics') } });
  });

  it('is refused beyond a thousand on one trace', async () => {
    const traceId = await send();
    const record = (index: number) =>
      app.store.feedback.record({
        projectNumber: 1,
        event: {
          ...{ eventId: `e${index}`, traceId, type: 'opened', metricsJson: '{}', detailsJson: '{}' },
          ...{ occurredAtMs: nowMs, receivedAtMs: nowMs },
        },
        contentId: null,
        bytes: 1,
        room: { eventsMax: 1_000, bytesMax: 10_000 },
        alikeWithinMs: 0,
      });
    const [project] = await app.store.management.projects(app.organizationId);
    expect(project?.id).toBe(app.projectId);
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => record(index)));
    const { status, body } = await post('/api/track_event', vote(traceId, 1));
    expect([status, body.error]).toEqual([422, 'feedback_limit_reached']);
  });

  it('is erased with its trace', async () => {
    const traceId = await send();
    await track(vote(traceId, 1));
    await callRest(app.address, { verb: 'DELETE', path: `/api/traces/${traceId}`, headers: key() });
    await send(traceId);
    expect(await eventsOf(traceId)).toEqual([]);
  });
});

describe('filters of events', () => {
  it('find traces by types and ranges of metrics, indexed or not, and list the types', async () => {
    const label = { metadata: { labels: ['filtered'] } };
    const [up, down, none] = [await send(hex(32), label), await send(hex(32), label), await send(hex(32), label)];
    await track(vote(up, 1));
    await track(vote(down, -1));
    await track({ trace_id: down, event_type: 'selected_text', metrics: { text_length: 40 } });
    const labelled = { 'metadata.labels': ['filtered'] };
    const isDone = async () => (await app.store.search.countUnindexed()) === 0;
    for (const indexed of [false, true]) {
      if (indexed) await until(isDone);
      expect(await found({ ...labelled, 'events.event_type': ['selected_text'] })).toEqual([down]);
      expect(await found({ ...labelled, 'events.metrics.vote': ['1', '1'] })).toEqual([up]);
      expect(await found({ ...labelled, 'events.metrics': { vote: ['', '0'] } })).toEqual([down]);
      expect((await found({ ...labelled, 'events.metrics.text_length': ['', ''] })).toSorted()).toEqual([down]);
      const without = await found({ ...labelled, 'events.event_type': ['thumbs_up_down'] }, { negateFilters: true });
      expect(without.includes(none)).toBe(true);
      expect(without.includes(up)).toBe(false);
    }
    const { body } = await post('/api/traces/facets', { names: ['events.event_type'], filters: labelled });
    expect(body.facets[0].values).toEqual([
      { value: 'thumbs_up_down', count: 2, countRelation: 'eq' },
      { value: 'selected_text', count: 1, countRelation: 'eq' },
    ]);
  });

  it.each([
    ['one bound', { 'events.metrics.vote': ['1'] }],
    ['a bound that is not a number', { 'events.metrics.vote': ['a', ''] }],
    ['no metric', { 'events.metrics': ['1', '2'] }],
  ])('refuse %s', async (_name, filters) => {
    expect((await post('/api/traces/search', { filters })).status).toBe(422);
  });
});

describe('analytics of events', () => {
  it('sum up their metrics and the share of thumbs up, by time and by group', async () => {
    const at = Date.UTC(2026, 3, 6, 10);
    const sendAt = async (user: string, hours: number) => {
      const traceId = hex(32);
      await post('/api/collector', { ...llmTrace(at + hours * 3_600_000, traceId), metadata: { user_id: user } });
      return traceId;
    };
    const [first, second, third] = [await sendAt('one', 0), await sendAt('two', 0), await sendAt('one', 24)];
    await track(vote(first, 1));
    await track(vote(second, -1));
    await track(vote(third, 1));
    await track(vote(third, 0, { event_id: 'neutral' }));
    await track({ trace_id: third, event_type: 'shop.cart', metrics: { 'item.price': 2.5 } });
    const range = `from=${at}&to=${at + 2 * DAY_MS}`;
    const names = 'traces,thumbs_up_share,events.thumbs_up_down.vote,events.shop.cart.item.price,events.none.at_all';
    const byDay = await get(`/api/analytics?${range}&metrics=${names}`);
    expect(byDay.body.buckets.map(({ start: _, end: __, ...bucket }: Body) => bucket)).toEqual([
      {
        ...{ group: null, traces: 2, thumbs_up_share: 0.5 },
        'events.thumbs_up_down.vote': { sum: 0, avg: 0, count: 2 },
      },
      {
        ...{ group: null, traces: 1, thumbs_up_share: 1 },
        'events.thumbs_up_down.vote': { sum: 1, avg: 0.5, count: 2 },
        'events.shop.cart.item.price': { sum: 2.5, avg: 2.5, count: 1 },
      },
    ]);
    const byUser = await get(`/api/analytics?${range}&interval=total&group_by=user_id&metrics=thumbs_up_share`);
    expect(byUser.body.buckets.map(({ group, thumbs_up_share }: Body) => [group, thumbs_up_share])).toEqual([
      ['one', 1],
      ['two', 0],
    ]);
    const ofUser = await get(`/api/analytics?${range}&interval=total&user_id=two&metrics=events.thumbs_up_down.vote`);
    expect(ofUser.body.buckets[0]).toMatchObject({ 'events.thumbs_up_down.vote': { sum: -1, avg: -1, count: 1 } });
    const ofModel = await get(`/api/analytics?${range}&interval=total&group_by=model&metrics=thumbs_up_share`);
    expect(ofModel.body.buckets).toMatchObject([{ group: 'gpt-5', thumbs_up_share: 2 / 3 }]);
    const all = await get(`/api/analytics?${range}&interval=total`);
    expect(Object.keys(all.body.buckets[0])).not.toContain('thumbs_up_share');
    expect((await get(`/api/analytics?${range}&metrics=events.vote`)).status).toBe(422);
  });
});

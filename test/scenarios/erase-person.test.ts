/** Nothing of a person is left in the files of the database once their traces are deleted, except what the log keeps. */

import { expect, it } from 'vitest';
import { compactDatabase, isPostgres } from '../../src/storage/open.ts';
import { startApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';

const TRACES = 60;
const USER = 'person-4711';
/** Long texts lie apart from the rows, and large ones are freed by later writes. */
const LONG = 'lorem ipsum '.repeat(800);
const LARGE = 'lorem ipsum '.repeat(20_000);
/** A trace of so many spans is erased in steps. */
const SPANS = 250;

/** A trace with a text of its own in every place that holds texts. */
function traceOf(user: string, planted: (place: string) => string) {
  const at = Date.now();
  const spanId = hex(16);
  return {
    trace_id: hex(32),
    metadata: { user_id: user, thread_id: planted('thread'), note: planted('metadata'), long: planted('long') + LONG },
    expected_output: planted('expected'),
    spans: [
      {
        type: 'llm',
        span_id: spanId,
        name: planted('name'),
        model: 'gpt-4o-mini',
        input: { type: 'text', value: planted('input') + LONG },
        output: { type: 'text', value: planted('output') },
        params: { stop: planted('params') },
        error: { has_error: true, message: planted('error'), stacktrace: [planted('stack')] },
        timestamps: { started_at: at, finished_at: at + 10 },
        metrics: { prompt_tokens: 5, completion_tokens: 3 },
      },
    ],
    evaluations: [{ name: 'Judged', status: 'processed', score: 1, details: planted('details'), span_id: spanId }],
  };
}

it('deletes all texts of a person from the files of the database', async () => {
  const database = await createTestDatabase();
  const app = await startApp({ database });
  const headers = { 'x-auth-token': app.projectKey };
  const post = (path: string, body: object) => callRest(app.address, { verb: 'POST', path, body, headers });
  try {
    for (let index = 0; index < TRACES; index += 1) {
      const erased = index % 2 === 0;
      const sent = traceOf(erased ? USER : 'another', (place) => `${erased ? 'ERASED' : 'STAYS'}-${place}-${index}-`);
      expect((await post('/api/collector', sent)).status).toBe(200);
      const planted = (place: string) => `${erased ? 'ERASED' : 'STAYS'}-${place}-${index}-`;
      const vote = { trace_id: sent.trace_id, event_type: 'thumbs_up_down', metrics: { vote: 1 } };
      const tracked = { ...vote, event_id: planted('event'), event_details: { feedback: planted('feedback') } };
      expect((await post('/api/track_event', tracked)).status).toBe(200);
      const said = { comment: planted('comment'), expectedOutput: planted('wanted'), email: `${planted('mail')}@b.c` };
      expect((await post(`/api/annotations/trace/${sent.trace_id}`, said)).status).toBe(200);
    }
    await until(async () => (await app.store.search.countUnindexed()) === 0);
    const { body } = await post('/api/trace-deletions', { filters: { 'metadata.user_id': [USER] } });
    await until(async () => {
      const deletion = await callRest(app.address, { path: `/api/trace-deletions/${body.id}`, headers });
      return deletion.body.status === 'completed' && deletion.body.deleted === TRACES / 2;
    });
    await until(async () => (await app.store.search.countUnindexed()) === 0);
    const planted = (place: string) => `ERASED-${place}-`;
    const [sent, large] = [traceOf(USER, planted), traceOf(USER, planted)];
    const [span] = sent.spans;
    const spans = Array.from({ length: SPANS }, () => ({ ...span, span_id: hex(16) }));
    const input = { type: 'text', value: planted('large') + LARGE };
    for (const body of [
      { ...sent, spans },
      { ...large, spans: [{ ...span, span_id: hex(16), input }] },
    ]) {
      expect((await post('/api/collector', body)).status).toBe(200);
    }
    const ids = [sent.trace_id, large.trace_id];
    const { body: other } = await post('/api/trace-deletions', { traceIds: ids });
    await until(async () => {
      const deletion = await callRest(app.address, { path: `/api/trace-deletions/${other.id}`, headers });
      return deletion.body.status === 'completed' && deletion.body.deleted === ids.length;
    });
    await until(async () => (await app.store.search.countUnindexed()) === 0);
  } finally {
    await app.stop();
    await app.store.close();
  }
  try {
    if (isPostgres(database.url)) await database.execute('VACUUM FULL');
    else await compactDatabase(database.url, { pause: async () => undefined, nowMs: () => performance.now() });
    const all = (await database.contents()).join('');
    const found = [...new Set(all.match(/ERASED-[a-z]+-/g) ?? [])];
    expect(all).toContain('STAYS-output-');
    expect(found).toEqual([]);
  } finally {
    await database.remove();
  }
});

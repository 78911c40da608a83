import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AnnotationScoreService,
  AnnotationScoreType,
  AnnotationService,
} from '../../../gen/spandrel/v1/annotations_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const { createAnnotation, getAnnotation, listAnnotations, listTraceAnnotations, updateAnnotation, deleteAnnotation } =
  AnnotationService.method;
const { createAnnotationScore, listAnnotationScores } = AnnotationScoreService.method;

let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const call = (verb: string, path: string, body?: object) =>
  callRest(app.address, { verb, path, ...(body && { body }), headers: key() });

async function send(): Promise<string> {
  const traceId = hex(32);
  const { status, text } = await call('POST', '/api/collector', llmTrace(nowMs, traceId));
  expect(status, text).toBe(200);
  return traceId;
}

async function ok(verb: string, path: string, body?: object): Promise<Body> {
  const answer = await call(verb, path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const annotate = (traceId: string, body: object) => ok('POST', `/api/annotations/trace/${traceId}`, body);
const define = (body: object) => ok('POST', '/api/annotation-scores', { name: hex(8), ...body });

async function refused(verb: string, path: string, body?: object): Promise<[number, string]> {
  const answer = await call(verb, path, body);
  return [answer.status, answer.body.error];
}

async function audited(targetId: string): Promise<string[]> {
  const headers = { 'x-auth-token': app.adminKey };
  const { body } = await callRest(app.address, { path: `/api/audit-log?targetId=${targetId}`, headers });
  return body.data.map(({ action }: Body) => action).toSorted();
}

describe('an annotation', () => {
  it('is made, read, changed and deleted as the clients of LangWatch expect', async () => {
    const traceId = await send();
    const made = await annotate(traceId.toUpperCase(), { comment: 'Good', isThumbsUp: true, email: 'a@b.c' });
    expect(made).toEqual({
      id: expect.stringMatching(/^annotation_[0-9A-Za-z]{21}$/),
      ...{ projectId: app.projectId, traceId, spanId: null, comment: 'Good', isThumbsUp: true, userId: null },
      ...{ email: 'a@b.c', scoreOptions: {}, expectedOutput: null, anchorKind: 'trace', anchorPath: null },
      ...{ createdAt: new Date(nowMs).toISOString(), updatedAt: new Date(nowMs).toISOString() },
    });
    expect(await ok('GET', `/api/annotations/${made.id}`)).toEqual(made);
    expect(await ok('GET', `/api/annotations/trace/${traceId}`)).toEqual([made]);
    nowMs += 1_000;
    const changed = await ok('PATCH', `/api/annotations/${made.id}`, { isThumbsUp: null, expectedOutput: 'Better' });
    expect(changed).toMatchObject({ comment: 'Good', isThumbsUp: null, expectedOutput: 'Better' });
    expect(Date.parse(changed.updatedAt)).toBe(nowMs);
    const removed = await ok('DELETE', `/api/annotations/${made.id}`);
    expect(removed).toEqual({ status: 'success', message: 'Annotation deleted.' });
    expect(await refused('GET', `/api/annotations/${made.id}`)).toEqual([404, 'Annotation not found.']);
    expect(await audited(made.id)).toEqual(['annotation.create', 'annotation.delete', 'annotation.update']);
  });

  it('never loses all of its content', async () => {
    const { id } = await annotate(await send(), { comment: 'Good', email: 'a@b.c' });
    const path = `/api/annotations/${id}`;
    for (const comment of ['', null])
      expect(await refused('PATCH', path, { comment })).toEqual([422, 'validation_error']);
    expect(await ok('PATCH', path, { comment: '', isThumbsUp: false })).toMatchObject({
      comment: '',
      isThumbsUp: false,
    });
    expect(await refused('PATCH', path, { isThumbsUp: null, scoreOptions: {} })).toEqual([422, 'validation_error']);
  });

  it('answers the same over every surface', async () => {
    const traceId = await send();
    const { id } = await annotate(traceId, { comment: 'One' });
    const headers = key();
    await expectEverywhere(app.address, {
      ...{ name: 'create', headers, status: 200 },
      rest: { verb: 'POST', path: `/api/annotations/trace/${traceId}`, body: { comment: 'Both' } },
      rpc: { method: createAnnotation, request: { traceId, comment: 'Both' } },
      check: (made) => expect([made.traceId, made.comment, made.anchorKind]).toEqual([traceId, 'Both', 'trace']),
    });
    await expectEverywhere(app.address, {
      ...{ name: 'get', headers, status: 200 },
      rest: { path: `/api/annotations/${id}` },
      rpc: { method: getAnnotation, request: { id } },
      check: (found) => expect(found.comment).toBe('One'),
    });
    await expectEverywhere(app.address, {
      ...{ name: 'list of a trace', headers, status: 200 },
      rest: { path: `/api/annotations/trace/${traceId}` },
      rpc: { method: listTraceAnnotations, request: { traceId } },
      check: (listed) => expect(listed.map((each: Body) => each.comment).toSorted()).toEqual(['Both', 'Both', 'One']),
    });
    await expectEverywhere(app.address, {
      ...{ name: 'list', headers, status: 200 },
      rest: { path: '/api/annotations' },
      rpc: { method: listAnnotations, request: {} },
      check: (listed) => expect(listed.length).toBeGreaterThan(2),
    });
    await expectEverywhere(app.address, {
      ...{ name: 'update', headers, status: 200 },
      rest: { verb: 'PATCH', path: `/api/annotations/${id}`, body: { comment: 'Two' } },
      rpc: { method: updateAnnotation, request: { id, annotation: { comment: 'Two' } } },
      check: (changed) => expect(changed.comment).toBe('Two'),
    });
    await expectEverywhere(app.address, {
      ...{ name: 'delete an unknown one', headers, status: 404, code: 'annotation_not_found' },
      rest: { verb: 'DELETE', path: `/api/annotations/${id}x` },
      rpc: { method: deleteAnnotation, request: { id: `${id}x` } },
    });
  });

  it('is about a span, a message or a field, and lists tell those of whole traces apart', async () => {
    nowMs += 1_000;
    const traceId = await send();
    await annotate(traceId, { comment: 'trace' });
    const span = await annotate(traceId, { comment: 'span', spanId: 'ABCDEF0123456789' });
    expect(span).toMatchObject({ anchorKind: 'span', spanId: 'abcdef0123456789' });
    const message = { comment: 'message', anchorKind: 'message', anchorPath: 'output.0' };
    expect(await annotate(traceId, message)).toMatchObject(message);
    const field = { comment: 'field', anchorKind: 'field', anchorPath: 'params.temperature', spanId: 'one' };
    expect(await annotate(traceId, field)).toMatchObject(field);
    const comments = (listed: Body[]) => listed.map(({ comment }) => comment).toSorted();
    const path = `/api/annotations/trace/${traceId}`;
    expect(comments(await ok('GET', path))).toEqual(['field', 'message', 'span', 'trace']);
    expect(comments(await ok('GET', `${path}?anchor=trace`))).toEqual(['trace']);
    const all = await ok('GET', `/api/annotations?anchor=all&startDate=${nowMs}&endDate=${nowMs}`);
    for (const comment of ['field', 'message', 'span', 'trace']) expect(comments(all)).toContain(comment);
    expect(await ok('GET', `/api/annotations?startDate=${nowMs + 1}`)).toEqual([]);
    expect((await call('GET', '/api/annotations?anchor=other')).status).toBe(422);
  });

  it.each([
    ['nothing said', {}],
    ['an empty comment', { comment: '' }],
    ['a thumb that is a word', { isThumbsUp: 'yes' }],
    ['a comment that is too long', { comment: 'x'.repeat(16_385) }],
    ['an address that is none', { comment: 'x', email: 'someone' }],
    ['a span without its id', { comment: 'x', anchorKind: 'span' }],
    ['a field without its path', { comment: 'x', anchorKind: 'field' }],
    ['a path of a whole trace', { comment: 'x', anchorPath: 'output' }],
    ['an unknown kind', { comment: 'x', anchorKind: 'word' }],
    ['a score that is not defined', { scoreOptions: { other: { value: 1 } } }],
    ['a score that is not an object', { scoreOptions: { other: 1 } }],
    ['scores in a list', { scoreOptions: [1] }],
  ])('is refused with %s', async (_name, body) => {
    const traceId = await send();
    expect(await refused('POST', `/api/annotations/trace/${traceId}`, body)).toEqual([422, 'validation_error']);
    expect(await ok('GET', `/api/annotations/trace/${traceId}`)).toEqual([]);
  });

  it('needs a trace, and is erased with it', async () => {
    const path = `/api/annotations/trace/${hex(32)}`;
    expect(await refused('POST', path, { comment: 'x' })).toEqual([404, 'Trace not found.']);
    expect(await ok('GET', path)).toEqual([]);
    const traceId = await send();
    const { id } = await annotate(traceId, { comment: 'x' });
    await ok('DELETE', `/api/traces/${traceId}`);
    expect((await call('GET', `/api/annotations/${id}`)).status).toBe(404);
  });

  it('is hidden from other projects', async () => {
    const { id } = await annotate(await send(), { comment: 'x' });
    const headers = { 'x-auth-token': app.adminKey };
    const made = await callRest(app.address, { verb: 'POST', path: '/api/projects', body: { name: 'Other' }, headers });
    const foreign = { 'x-auth-token': made.body.apiKey };
    const found = await callRest(app.address, { path: `/api/annotations/${id}`, headers: foreign });
    expect(found.status).toBe(404);
    const listed = await callRest(app.address, { path: '/api/annotations', headers: foreign });
    expect(listed.body).toEqual([]);
  });
});

describe('a score', () => {
  it('is given as its definition says', async () => {
    const traceId = await send();
    const [stars, isRight, tone, note] = [
      await define({ dataType: 'NUMERIC', min: 1, max: 5 }),
      await define({ dataType: 'BOOLEAN' }),
      await define({ dataType: 'CATEGORICAL', options: ['kind', 'rude'] }),
      await define({ dataType: 'TEXT' }),
    ];
    const given = {
      [stars.id]: { value: 4, reason: 'nearly' },
      [isRight.id]: { value: true },
      [tone.id]: { value: 'kind' },
      [note.id]: { value: 'a note' },
    };
    const made = await annotate(traceId, { scoreOptions: { ...given, other: { value: null } } });
    expect(made.scoreOptions).toEqual(given);
    const wrong: [string, unknown][] = [
      ...[0, 6, '4', true].map((value): [string, unknown] => [stars.id, value]),
      ...([
        [isRight.id, 1],
        [tone.id, 'loud'],
        [tone.id, ['kind']],
        [note.id, 7],
      ] as [string, unknown][]),
    ];
    for (const [id, value] of wrong) {
      const path = `/api/annotations/${made.id}`;
      expect(await refused('PATCH', path, { scoreOptions: { [id]: { value } } })).toEqual([422, 'validation_error']);
    }
    for (const field of ['name', 'active', 'dataType']) {
      const path = `/api/annotation-scores/${stars.id}`;
      expect(await refused('PATCH', path, { [field]: null })).toEqual([422, 'validation_error']);
    }
    const broken = { traceId, scoreOptionsJson: '{' };
    expect(await callRpc(app.address, { method: createAnnotation, request: broken, headers: key() })).toMatchObject({
      ok: false,
      error: { code: 3 },
    });
    await ok('PATCH', `/api/annotation-scores/${stars.id}`, { active: false });
    const path = `/api/annotations/trace/${traceId}`;
    expect((await refused('POST', path, { scoreOptions: { [stars.id]: { value: 4 } } }))[0]).toBe(422);
    const kept = await ok('PATCH', `/api/annotations/${made.id}`, {
      scoreOptions: { [stars.id]: { value: 4 }, [tone.id]: { value: 'rude' } },
    });
    expect(kept.scoreOptions).toEqual({ [stars.id]: { value: 4 }, [tone.id]: { value: 'rude' } });
  });

  it('never changes its kind once it is given', async () => {
    const score = await define({ dataType: 'NUMERIC', min: 0 });
    const path = `/api/annotation-scores/${score.id}`;
    expect(await ok('PATCH', path, { dataType: 'CATEGORICAL', options: ['a'] })).toMatchObject({ min: null });
    await ok('PATCH', path, { dataType: 'NUMERIC', options: [], max: 1 });
    const made = await annotate(await send(), { scoreOptions: { [score.id]: { value: 1 } } });
    expect(await refused('PATCH', path, { dataType: 'TEXT' })).toEqual([409, 'annotation_score_in_use']);
    expect(await ok('PATCH', path, { max: null, name: ' Renamed ' })).toMatchObject({ max: null, name: 'Renamed' });
    expect(await ok('DELETE', path)).toEqual({ success: true });
    expect(await refused('DELETE', path)).toEqual([404, 'annotation_score_not_found']);
    expect((await ok('GET', `/api/annotations/${made.id}`)).scoreOptions).toEqual({ [score.id]: { value: 1 } });
    expect(await audited(score.id)).toContain('annotationScore.delete');
  });

  it('is defined alike over every surface, under a name of its own', async () => {
    const score = await define({ dataType: 'BOOLEAN' });
    expect(score).toMatchObject({ options: [], min: null, max: null, active: true });
    await expectEverywhere(app.address, {
      ...{ name: 'a taken name', headers: key(), status: 409, code: 'annotation_score_name_taken' },
      rest: { verb: 'POST', path: '/api/annotation-scores', body: { name: score.name, dataType: 'TEXT' } },
      rpc: { method: createAnnotationScore, request: { name: score.name, dataType: AnnotationScoreType.TEXT } },
    });
    await expectEverywhere(app.address, {
      ...{ name: 'list', headers: key(), status: 200 },
      rest: { path: '/api/annotation-scores' },
      rpc: { method: listAnnotationScores, request: {} },
      check: (listed) => expect(listed).toContainEqual(score),
    });
  });

  it.each([
    ['no name', { name: ' ', dataType: 'TEXT' }],
    ['no type', {}],
    ['an unknown type', { dataType: 'STARS' }],
    ['a choice of nothing', { dataType: 'CATEGORICAL' }],
    ['a choice of the same', { dataType: 'CATEGORICAL', options: ['a', 'a'] }],
    ['options of a number', { dataType: 'NUMERIC', options: ['a'] }],
    ['bounds of a text', { dataType: 'TEXT', min: 1 }],
    ['bounds in the wrong order', { dataType: 'NUMERIC', min: 2, max: 1 }],
  ])('is not defined with %s', async (_name, body) => {
    expect(await refused('POST', '/api/annotation-scores', { name: hex(8), ...body })).toEqual([
      422,
      'validation_error',
    ]);
  });
});

describe('filters of annotations', () => {
  it('find traces by annotations and by scores, with their names', async () => {
    const stars = await define({ dataType: 'NUMERIC' });
    const [rated, plain] = [await send(), await send()];
    await annotate(rated, { scoreOptions: { [stars.id]: { value: 3 } } });
    const found = async (filters: object, more: object = {}) => {
      const { traces } = await ok('POST', '/api/traces/search', { filters, traceIds: [rated, plain], ...more });
      return traces.map((trace: Body) => trace.trace_id);
    };
    const isDone = async () => (await app.store.search.countUnindexed()) === 0;
    for (const traceIds of [undefined, []]) {
      const more = traceIds ? { traceIds } : {};
      if (traceIds) await until(isDone);
      expect(await found({ [`annotations.score.${stars.name}`]: ['2', '4'] }, more)).toEqual([rated]);
      expect(await found({ [`annotations.score.${stars.id}`]: ['3'] }, more)).toEqual([rated]);
      expect(await found({ [`annotations.score.${stars.name}`]: ['4', '9'] }, more)).toEqual([]);
      expect(await found({ 'annotations.hasAnnotation': ['true'] }, more)).toContain(rated);
      expect(await found({ 'annotations.hasAnnotation': ['false'] }, more)).toContain(plain);
      expect(await found({ 'annotations.hasAnnotation': ['false'] }, more)).not.toContain(rated);
    }
    const refusal = await refused('POST', '/api/traces/search', {
      filters: { 'annotations.hasAnnotation': ['maybe'] },
    });
    expect(refusal).toEqual([422, 'validation_error']);
  });
});

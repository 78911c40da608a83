import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SavedViewService } from '../../../gen/spandrel/v1/saved_views_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { act } from '../organization/organization-client.ts';

const { createSavedView, deleteSavedView, getSavedView, listSavedViews, updateSavedView } = SavedViewService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

type Headers = { readonly [name: string]: string };

const asProject = (): Headers => ({ 'x-auth-token': app.projectKey });
const asAdmin = (): Headers => ({ 'x-auth-token': app.adminKey, 'x-project-id': app.projectId });

async function asNewMember(role = 'MEMBER'): Promise<Headers & { readonly userId: string }> {
  const email = `${hex(12)}@example.com`;
  const { userId } = await act(app, 'POST', '/api/organization/members', { email, name: 'M', role });
  const { token } = await act(app, 'POST', '/api/api-keys', { name: 'k', assignedToUserId: userId });
  return { 'x-auth-token': token, 'x-project-id': app.projectId, userId };
}

const rest = (verb: string, path: string, headers: Headers, body?: object) =>
  callRest(app.address, { verb, path, headers, ...(body && { body }) });

async function save(headers: Headers, more: object = {}): Promise<Body> {
  const body = { name: `view ${hex(6)}`, search: 'range=7d', visibility: 'PROJECT', ...more };
  const { status, body: made, text } = await rest('POST', '/api/saved-views', headers, body);
  expect(status, text).toBe(201);
  return made;
}

/** The ids of all that a caller sees, page by page. */
async function seenBy(headers: Headers, limit = 200): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await rest('GET', `/api/saved-views?limit=${limit}&cursor=${cursor}`, headers);
    expect(page.status, page.text).toBe(200);
    expect(page.body.data.length).toBeLessThanOrEqual(limit);
    ids.push(...page.body.data.map(({ id }: Body) => id));
    if (page.body.next_cursor === null) return ids;
    cursor = page.body.next_cursor;
  }
}

const auditOf = async (id: string) => (await act(app, 'GET', `/api/audit-log?targetId=${id}`)).data;

describe('a saved view', () => {
  it('is saved, read, changed and deleted the same over every surface', async () => {
    const view = { name: ' Dear answers ', search: 'q=model%3Agpt-5&sort=cost' };
    await expectEverywhere(app.address, {
      name: 'create',
      headers: asAdmin(),
      rest: { verb: 'POST', path: '/api/saved-views', body: { ...view, visibility: 'PROJECT' } },
      rpc: { method: createSavedView, request: { ...view, visibility: 1 } },
      status: 201,
      check: (made) => {
        expect(made).toMatchObject({ ...view, name: 'Dear answers', visibility: 'PROJECT', canChange: true });
        expect(made).toMatchObject({ id: expect.stringMatching(/^savedview_[0-9A-Za-z]{21}$/), createdBy: app.userId });
        expect(made.createdAt).toBe(made.updatedAt);
      },
    });
    const { id } = await save(asAdmin(), view);
    const path = `/api/saved-views/${id}`;
    await expectEverywhere(app.address, {
      name: 'get',
      headers: asProject(),
      rest: { path },
      rpc: { method: getSavedView, request: { savedViewId: id } },
      status: 200,
      check: (read) => expect(read).toMatchObject({ id, search: view.search }),
    });
    await expectEverywhere(app.address, {
      name: 'update',
      headers: asAdmin(),
      rest: { verb: 'PATCH', path, body: { name: 'Cheap', search: '' } },
      rpc: { method: updateSavedView, request: { savedViewId: id, savedView: { name: 'Cheap', search: '' } } },
      status: 200,
      check: (changed) => expect(changed).toMatchObject({ id, name: 'Cheap', search: '', visibility: 'PROJECT' }),
    });
    await expectEverywhere(app.address, {
      name: 'list',
      headers: asAdmin(),
      rest: { path: '/api/saved-views' },
      rpc: { method: listSavedViews, request: {} },
      status: 200,
      check: ({ data }) => expect(data[0]).toMatchObject({ id, name: 'Cheap' }),
    });
    expect((await rest('DELETE', path, asAdmin())).status).toBe(200);
    await expectEverywhere(app.address, {
      name: 'delete what is gone',
      headers: asAdmin(),
      rest: { verb: 'DELETE', path },
      rpc: { method: deleteSavedView, request: { savedViewId: id } },
      status: 404,
      code: 'saved_view_not_found',
    });
    const actions = (await auditOf(id)).map(({ action, fields }: Body) => [action, fields]);
    expect(actions.toReversed()).toEqual([
      ['savedView.create', []],
      ['savedView.update', ['name', 'search']],
      ['savedView.delete', []],
    ]);
  });

  it('stays as it is, without an entry in the audit log, where nothing changes', async () => {
    const view = await save(asAdmin());
    const again = await rest('PATCH', `/api/saved-views/${view.id}`, asAdmin(), { name: view.name });
    expect(again.body).toEqual(view);
    expect(await auditOf(view.id)).toHaveLength(1);
  });

  it('is listed with all others once, the newest first, in pages', async () => {
    const made = [];
    for (let count = 0; count < 5; count += 1) made.unshift((await save(asProject())).id);
    const whole = await seenBy(asProject());
    expect(whole.slice(0, 5)).toEqual(expect.arrayContaining(made));
    expect(await seenBy(asProject(), 2)).toEqual(whole);
    const page = await rest('GET', '/api/saved-views?limit=2', asProject());
    const foreign = await rest('GET', `/api/saved-views?cursor=${page.body.next_cursor}`, asAdmin());
    expect([foreign.status, foreign.body.error]).toEqual([422, 'invalid_cursor']);
  });

  it.each([
    ['no name', { name: undefined }, ['name']],
    ['a blank name', { name: '  ' }, ['name']],
    ['a long name', { name: 'n'.repeat(129) }, ['name']],
    ['no search', { search: undefined }, ['search']],
    ['a long search', { search: 's'.repeat(4_097) }, ['search']],
    ['a search with a question mark', { search: '?q=a' }, ['search']],
    ['U+0000 in its search', { search: 'q=\u0000' }, ['search']],
    ['no visibility', { visibility: undefined }, ['visibility']],
    ['an unknown visibility', { visibility: 'TEAM' }, ['visibility']],
    ['an unknown member', { colour: 'red' }, ['colour']],
  ])('is refused with %s', async (_what, wrong, fields) => {
    const body = { name: 'n', search: '', visibility: 'PROJECT', ...wrong };
    const { status, body: refusal } = await rest('POST', '/api/saved-views', asAdmin(), body);
    expect([status, refusal.error, refusal.fields]).toEqual([422, 'validation_error', fields]);
  });
});

describe('a personal view', () => {
  it('is seen by its owner alone, with whichever of their keys, and by nobody once the owner is removed', async () => {
    const owner = await asNewMember();
    const other = await asNewMember();
    const { id } = await save(owner, { visibility: 'PERSONAL' });
    const second = await act(app, 'POST', '/api/api-keys', { name: 'k', assignedToUserId: owner.userId });
    expect(await seenBy(owner)).toContain(id);
    expect(await seenBy({ ...owner, 'x-auth-token': second.token })).toContain(id);
    for (const headers of [other, asAdmin(), asProject()]) {
      expect(await seenBy(headers)).not.toContain(id);
      for (const [verb, body] of [['GET'], ['PATCH', { name: 'mine' }], ['DELETE']] as const) {
        const { status, body: refusal } = await rest(verb, `/api/saved-views/${id}`, headers, body);
        expect([verb, status, refusal.error]).toEqual([verb, 404, 'saved_view_not_found']);
      }
    }
    const owners = { projectId: app.projectId, id };
    expect(await app.store.savedViews.find(owners.projectId, owners.id)).not.toBeNull();
    await act(app, 'DELETE', `/api/organization/members/${owner.userId}`);
    expect(await app.store.savedViews.find(owners.projectId, owners.id)).toBeNull();
  });

  it('needs a person', async () => {
    const body = { name: 'n', search: '', visibility: 'PERSONAL' };
    const { status, body: refusal } = await rest('POST', '/api/saved-views', asProject(), body);
    expect([status, refusal.error, refusal.fields]).toEqual([422, 'validation_error', ['visibility']]);
  });

  it('is shared with the project and taken back by its owner, who needs traces:update for it', async () => {
    const [owner, viewer] = [await asNewMember(), await asNewMember('VIEWER')];
    const { id } = await save(owner, { visibility: 'PERSONAL' });
    const path = `/api/saved-views/${id}`;
    const shared = await rest('PATCH', path, owner, { visibility: 'PROJECT' });
    expect(shared.body).toMatchObject({ visibility: 'PROJECT', canChange: true });
    const seen = await rest('GET', path, viewer);
    expect(seen.body).toMatchObject({ visibility: 'PROJECT', canChange: false });
    const taken = await rest('PATCH', path, asAdmin(), { visibility: 'PERSONAL' });
    expect([taken.status, taken.body.fields]).toEqual([422, ['visibility']]);
    expect((await rest('PATCH', path, owner, { visibility: 'PERSONAL' })).status).toBe(200);
    expect(await seenBy(viewer)).not.toContain(id);
    const own = await save(viewer, { visibility: 'PERSONAL' });
    const refused = await rest('PATCH', `/api/saved-views/${own.id}`, viewer, { visibility: 'PROJECT' });
    expect([refused.status, refused.body.error]).toEqual([403, 'api_key_permission_denied']);
  });

  it('is one of 100 of a person, who share none with others', async () => {
    const [owner, other] = [await asNewMember(), await asNewMember()];
    for (let count = 0; count < 100; count += 1) await save(owner, { visibility: 'PERSONAL' });
    const body = { name: 'n', search: '', visibility: 'PERSONAL' };
    const { status, body: refusal } = await rest('POST', '/api/saved-views', owner, body);
    expect([status, refusal.error]).toEqual([422, 'saved_view_limit_reached']);
    const { id } = await save(owner);
    const moved = await rest('PATCH', `/api/saved-views/${id}`, owner, { visibility: 'PERSONAL' });
    expect([moved.status, moved.body.error]).toEqual([422, 'saved_view_limit_reached']);
    await save(other, { visibility: 'PERSONAL' });
  });
});

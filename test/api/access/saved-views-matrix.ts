/**
 * Access to saved views: traces:view to see them and to keep personal ones, traces:update for those of the project, and
 * project:manage for those of the project that another person saved.
 */

import { SavedViewService } from '../../../gen/spandrel/v1/saved_views_pb.js';
import { callRest } from '../../support/surfaces.ts';
import { type Cell, type Matrix, makeFor, type Operation } from './matrix.ts';

const { createSavedView, deleteSavedView, getSavedView, listSavedViews, updateSavedView } = SavedViewService.method;

const TABLE = `
row                     | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list                    | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read one                | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read a personal one     | 404  | 200 | 403d | 403d | 403d | 404  | 404  | 404  | 404 | 403d | 403d | 404
save one                | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
save a personal one     | 422  | 201 | 403d | 403d | 403d | 201  | 201  | 201  | 422 | 403d | 403d | 422
change one of adm       | 200  | 200 | 403d | 403d | 403d | 403d | 403d | 403d | 200 | 403d | 403d | 200
change one of nobody    | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
change a personal one   | 404  | 200 | 403d | 403d | 403d | 404  | 404  | 404  | 404 | 403d | 403d | 404
delete one of adm       | 200  | 200 | 403d | 403d | 403d | 403d | 403d | 403d | 200 | 403d | 403d | 200
delete one of nobody    | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a personal one   | 404  | 200 | 403d | 403d | 403d | 404  | 404  | 404  | 404 | 403d | 403d | 404
`;

const VIEW = { name: 'Slow', search: 'sort=duration' };

const viewOf = (caller: 'PA' | 'PROJ', visibility: 'PROJECT' | 'PERSONAL') =>
  makeFor(async ({ fixture: { app, tokens, projects } }) => {
    const headers = { 'x-auth-token': tokens[caller], 'x-project-id': projects.P1 };
    const body = { ...VIEW, visibility };
    const made = await callRest(app.address, { verb: 'POST', path: '/api/saved-views', headers, body });
    if (made.status !== 201) throw new Error(made.text);
    return made.body.id as string;
  });

const ofAdm = viewOf('PA', 'PROJECT');
const ofNobody = viewOf('PROJ', 'PROJECT');
const personal = viewOf('PA', 'PERSONAL');

const inP1 = (method: Operation['method'], ask: Operation['ask']): Operation => ({
  method,
  ask: async (cell) => ({
    headers: { 'x-project-id': cell.fixture.projects.P1 },
    ...(await ask(cell)),
  }),
  codes: { 404: 'saved_view_not_found' },
});

type MakeView = (cell: Cell) => Promise<string>;

const about = (method: Operation['method'], make: MakeView, body?: { readonly name: string }): Operation =>
  inP1(method, async (cell) => ({ parameters: { saved_view_id: await make(cell) }, ...(body && { body }) }));

export const SAVED_VIEW_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    list: inP1(listSavedViews, () => ({})),
    'read one': about(getSavedView, ofAdm),
    'read a personal one': about(getSavedView, personal),
    'save one': inP1(createSavedView, () => ({ body: { ...VIEW, visibility: 'PROJECT' } })),
    'save a personal one': inP1(createSavedView, () => ({ body: { ...VIEW, visibility: 'PERSONAL' } })),
    'change one of adm': about(updateSavedView, ofAdm, { name: 'Slower' }),
    'change one of nobody': about(updateSavedView, ofNobody, { name: 'Slower' }),
    'change a personal one': about(updateSavedView, personal, { name: 'Slower' }),
    'delete one of adm': about(deleteSavedView, ofAdm),
    'delete one of nobody': about(deleteSavedView, ofNobody),
    'delete a personal one': about(deleteSavedView, personal),
  },
};

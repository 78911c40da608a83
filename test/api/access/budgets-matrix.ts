/** Access to budgets of the project P1, which permissions there give, and of the organization. */

import { BudgetService } from '../../../gen/spandrel/v1/budgets_pb.js';
import { type Cell, type Matrix, makeFor, type Operation } from './matrix.ts';

const { listBudgets, createBudget, getBudget, updateBudget, archiveBudget, resetBudget } = BudgetService.method;

const TABLE = `
row                              | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list budgets                     | 401c | 200 | 200  | 200  | 200  | 200  | 200  | 200  | 200 | 200  | 200  | 200
make a budget of a project       | 401c | 201 | 403p | 403p | 403p | 403p | 403p | 403p | 201 | 403p | 403p | 201
read a budget of a project       | 401c | 200 | 404b | 404b | 404b | 200  | 200  | 200  | 200 | 404b | 404b | 200
change a budget of a project     | 401c | 200 | 404b | 404b | 404b | 403p | 403p | 403p | 200 | 404b | 404b | 200
reset a budget of a project      | 401c | 200 | 404b | 404b | 404b | 403p | 403p | 403p | 200 | 404b | 404b | 200
archive a budget of a project    | 401c | 200 | 404b | 404b | 404b | 403p | 403p | 403p | 200 | 404b | 404b | 200
make a budget of a virtual key   | 401c | 201 | 403p | 403p | 403p | 403p | 403p | 403p | 201 | 403p | 403p | 201
read a budget of a virtual key   | 401c | 200 | 404b | 404b | 404b | 200  | 200  | 200  | 200 | 404b | 404b | 200
change a budget of a virtual key | 401c | 200 | 404b | 404b | 404b | 403p | 403p | 403p | 200 | 404b | 404b | 200
reset a budget of a virtual key  | 401c | 200 | 404b | 404b | 404b | 403p | 403p | 403p | 200 | 404b | 404b | 200
archive a budget of a virtual key | 401c | 200 | 404b | 404b | 404b | 403p | 403p | 403p | 200 | 404b | 404b | 200
make one of the organization     | 401c | 201 | 403p | 403p | 403p | 403p | 403p | 403p | 201 | 403p | 403p | 403p
read one of the organization     | 401c | 200 | 404b | 404b | 404b | 404b | 404b | 404b | 200 | 404b | 404b | 404b
change one of the organization   | 401c | 200 | 404b | 404b | 404b | 404b | 404b | 404b | 200 | 404b | 404b | 404b
reset one of the organization    | 401c | 200 | 404b | 404b | 404b | 404b | 404b | 404b | 200 | 404b | 404b | 404b
archive one of the organization  | 401c | 200 | 404b | 404b | 404b | 404b | 404b | 404b | 200 | 404b | 404b | 404b
`;

const CODES = { b: 'budget_not_found' };

const bodyOf = (scope: { readonly kind: string; readonly id?: string }) => ({
  ...{ name: 'budget', window: 'month', limit_usd: '1' },
  scope,
});
const ofProject = ({ fixture }: Cell) => bodyOf({ kind: 'project', id: fixture.scopeIds.project });
const ofOrganization = () => bodyOf({ kind: 'organization' });

const virtualKey = makeFor(async ({ fixture }) => {
  const body = { name: 'key', trace_project_id: fixture.scopeIds.project };
  return String((await fixture.act('POST', '/api/gateway/v1/virtual-keys', body)).virtual_key.id);
});
const ofVirtualKey = async (cell: Cell) => bodyOf({ kind: 'virtual_key', id: await virtualKey(cell) });

type MakeBody = (cell: Cell) => ReturnType<typeof bodyOf> | Promise<ReturnType<typeof bodyOf>>;

const made = (make: MakeBody): Operation => ({
  method: createBudget,
  ask: async (cell) => ({ body: await make(cell) }),
});

/** The operations on one budget. */
function on(make: MakeBody, name: string): Readonly<Record<string, Operation>> {
  const budget = makeFor(async (cell) =>
    String((await cell.fixture.act('POST', '/api/gateway/v1/budgets', await make(cell))).budget.id),
  );
  const ask = (method: Operation['method'], sent: { readonly body?: { readonly name?: string } } = {}): Operation => ({
    method,
    ask: async (cell) => ({ parameters: { id: await budget(cell) }, ...sent }),
    codes: CODES,
  });
  return {
    [`read ${name}`]: ask(getBudget),
    [`change ${name}`]: ask(updateBudget, { body: { name: 'changed' } }),
    [`reset ${name}`]: ask(resetBudget, { body: {} }),
    [`archive ${name}`]: ask(archiveBudget),
  };
}

export const BUDGET_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list budgets': { method: listBudgets, ask: () => ({}) },
    'make a budget of a project': made(ofProject),
    ...on(ofProject, 'a budget of a project'),
    'make a budget of a virtual key': made(ofVirtualKey),
    ...on(ofVirtualKey, 'a budget of a virtual key'),
    'make one of the organization': made(ofOrganization),
    ...on(ofOrganization, 'one of the organization'),
  },
};

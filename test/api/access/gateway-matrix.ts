/** Access to model providers and virtual keys of the project P1, which permissions there give. */

import { ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { freshName, NOBODY_URL } from './access-fixture.ts';
import { type Cell, type Matrix, makeFor, type Operation } from './matrix.ts';

const methods = { ...ModelProviderService.method, ...VirtualKeyService.method };

const TABLE = `
row                        | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list providers             | 401c | 200 | 200  | 200  | 200  | 200  | 200  | 200  | 200 | 200  | 200  | 200
make a provider            | 401c | 201 | 403p | 403p | 403p | 403p | 403p | 403p | 201 | 403p | 403p | 201
read a provider            | 401c | 200 | 404m | 404m | 404m | 200  | 200  | 200  | 200 | 404m | 404m | 200
change a provider          | 401c | 200 | 404m | 404m | 404m | 403p | 403p | 403p | 200 | 404m | 404m | 200
delete a provider          | 401c | 200 | 404m | 404m | 404m | 403p | 403p | 403p | 200 | 404m | 404m | 200
test a provider            | 401c | 200 | 404m | 404m | 404m | 403p | 403p | 403p | 200 | 404m | 404m | 200
list virtual keys          | 401c | 200 | 200  | 200  | 200  | 200  | 200  | 200  | 200 | 200  | 200  | 200
make a virtual key         | 401c | 201 | 403p | 403p | 403p | 201  | 403p | 201  | 201 | 403p | 403p | 201
read a virtual key         | 401c | 200 | 404v | 404v | 404v | 200  | 200  | 200  | 200 | 404v | 404v | 200
change a virtual key       | 401c | 200 | 404v | 404v | 404v | 200  | 403p | 200  | 200 | 404v | 404v | 200
rotate a virtual key       | 401c | 200 | 404v | 404v | 404v | 200  | 403p | 200  | 200 | 404v | 404v | 200
disable a virtual key      | 401c | 200 | 404v | 404v | 404v | 403p | 403p | 403p | 200 | 404v | 404v | 200
enable a virtual key       | 401c | 200 | 404v | 404v | 404v | 403p | 403p | 403p | 200 | 404v | 404v | 200
revoke a virtual key       | 401c | 200 | 404v | 404v | 404v | 403p | 403p | 403p | 200 | 404v | 404v | 200
read the spend of one      | 401c | 200 | 404v | 404v | 404v | 200  | 200  | 200  | 200 | 404v | 404v | 200
`;

const CODES = { m: 'model_provider_not_found', v: 'virtual_key_not_found' };

const providerOf = ({ fixture }: Cell) => ({
  name: freshName('provider'),
  kind: 'openai',
  api_key: 'sk-of-nobody',
  project_ids: [fixture.scopeIds.project],
});
const keyOf = ({ fixture }: Cell) => ({ name: 'key', trace_project_id: fixture.scopeIds.project });

/** At a closed port, so that a test of it ends at once. */
const provider = makeFor(async (cell) => {
  const body = { ...providerOf(cell), kind: 'openai_compatible', base_url: `${NOBODY_URL}v1` };
  return String((await cell.fixture.act('POST', '/api/gateway/v1/model-providers', body)).model_provider.id);
});
const virtualKey = makeFor(async (cell) => {
  return String((await cell.fixture.act('POST', '/api/gateway/v1/virtual-keys', keyOf(cell))).virtual_key.id);
});

type Question = Awaited<ReturnType<Operation['ask']>>;

const on = (make: (cell: Cell) => Promise<string>, method: Operation['method'], more: Question = {}): Operation => ({
  method,
  ask: async (cell) => ({ parameters: { id: await make(cell) }, ...more }),
  codes: CODES,
});
const made = (method: Operation['method'], bodyOf: (cell: Cell) => Question['body']): Operation => ({
  method,
  ask: (cell) => ({ body: bodyOf(cell) ?? {} }),
});
const list = (method: Operation['method']): Operation => ({ method, ask: () => ({}) });

export const GATEWAY_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list providers': list(methods.listModelProviders),
    'make a provider': made(methods.createModelProvider, providerOf),
    'read a provider': on(provider, methods.getModelProvider),
    'change a provider': on(provider, methods.updateModelProvider, { body: { enabled: false } }),
    'delete a provider': on(provider, methods.deleteModelProvider),
    'test a provider': on(provider, methods.testModelProvider),
    'list virtual keys': list(methods.listVirtualKeys),
    'make a virtual key': made(methods.createVirtualKey, keyOf),
    'read a virtual key': on(virtualKey, methods.getVirtualKey),
    'change a virtual key': on(virtualKey, methods.updateVirtualKey, { body: { name: 'changed' } }),
    'rotate a virtual key': on(virtualKey, methods.rotateVirtualKey, { body: {} }),
    'disable a virtual key': on(virtualKey, methods.disableVirtualKey, { body: {} }),
    'enable a virtual key': on(virtualKey, methods.enableVirtualKey, { body: {} }),
    'revoke a virtual key': on(virtualKey, methods.revokeVirtualKey, { body: {} }),
    'read the spend of one': on(virtualKey, methods.getVirtualKeySpend, { query: { from: '0', to: '1' } }),
  },
};

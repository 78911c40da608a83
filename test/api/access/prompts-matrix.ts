/** Access to prompts: reading, creating, changing and managing them have their own permissions. */

import { PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { callRest } from '../../support/surfaces.ts';
import { freshName } from './access-fixture.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const { listPrompts, getPrompt, createPrompt, updatePrompt, deletePrompt } = PromptService.method;
const { listPromptVersions, restorePromptVersion, syncPrompt, assignPromptTag } = PromptService.method;
const { tryPrompt } = PromptService.method;
const { listPromptTags, createPromptTag, updatePromptTag, deletePromptTag } = PromptService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list the prompts       | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read a prompt          | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
create a prompt        | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
change a prompt        | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a prompt        | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
list the versions      | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
restore a version      | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
try a prompt           | 404  | 404 | 403d | 403d | 403d | 404  | 403d | 404  | 404 | 403d | 403d | 404
sync a prompt          | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
assign a protected tag | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
list the tags          | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
create a tag           | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
rename a tag           | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a tag           | 204  | 204 | 403d | 403d | 403d | 204  | 403d | 204  | 204 | 403d | 403d | 204
`;

const freshWord = (word: string) => freshName(word).replaceAll(' ', '-').toLowerCase();

const make = (path: string, body: () => object) =>
  makeFor(async ({ fixture: { app } }) => {
    const headers = { 'x-auth-token': app.projectKey };
    return (await callRest(app.address, { verb: 'POST', path: `/api/prompts${path}`, body: body(), headers })).body;
  });

const prompt = make('', () => ({ handle: freshWord('prompt'), prompt: 'You greet.' }));
const tag = make('/tags', () => ({ name: freshWord('tag') }));

type Sent = Pick<Awaited<ReturnType<Operation['ask']>>, 'body' | 'message'>;

const inP1 = (method: Operation['method'], sent: () => Sent = () => ({})): Operation => ({
  method,
  ask: ({ fixture }) => ({ headers: { 'x-project-id': fixture.projects.P1 }, ...sent() }),
});

const onPrompt = (method: Operation['method'], body?: (versionId: string) => object): Operation => ({
  method,
  ask: async (cell) => {
    const { id, versionId } = await prompt(cell);
    return {
      headers: { 'x-project-id': cell.fixture.projects.P1 },
      parameters: { id, version_id: versionId, ...(method === assignPromptTag && { tag: 'production' }) },
      ...(body && { body: body(versionId) as never }),
    };
  },
});

const onTag = (method: Operation['method'], body?: () => object): Operation => ({
  method,
  ask: async (cell) => ({
    headers: { 'x-project-id': cell.fixture.projects.P1 },
    parameters: { tag: (await tag(cell)).name },
    ...(body && { body: body() as never }),
  }),
});

const FILE = { prompt: 'You greet.', model: 'openai/gpt-5', outputs: [{ identifier: 'output', type: 'str' }] };

export const PROMPT_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list the prompts': inP1(listPrompts),
    'read a prompt': onPrompt(getPrompt),
    'create a prompt': inP1(createPrompt, () => ({ body: { handle: freshWord('prompt'), prompt: 'You greet.' } })),
    'change a prompt': onPrompt(updatePrompt, () => ({ commitMessage: 'Again' })),
    'delete a prompt': onPrompt(deletePrompt),
    'list the versions': onPrompt(listPromptVersions),
    'restore a version': onPrompt(restorePromptVersion),
    'sync a prompt': onPrompt(syncPrompt, () => ({ configData: FILE, localVersion: 1 })),
    'try a prompt': {
      ...onPrompt(tryPrompt, () => ({ virtualKeyId: 'vk_nothing' })),
      codes: { 404: 'virtual_key_not_found' },
    },
    'assign a protected tag': onPrompt(assignPromptTag, (versionId) => ({ versionId })),
    'list the tags': inP1(listPromptTags),
    'create a tag': inP1(createPromptTag, () => ({ body: { name: freshWord('tag') } })),
    'rename a tag': onTag(updatePromptTag, () => ({ name: freshWord('tag') })),
    'delete a tag': onTag(deletePromptTag),
  },
};

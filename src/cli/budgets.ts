/** Creates, lists, changes, resets and archives budgets of a running server. */

import type { BudgetsCommand, TypedScope } from './budgets-arguments.ts';
import { createServerClient, readPages, type ServerClient, type ServerResponse } from './client.ts';
import type { Environment } from './io.ts';
import { alignRows, itemsOf, memberOf, memberText } from './text.ts';

const PATH = '/api/gateway/v1/budgets';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function budgets(environment: Environment, command: BudgetsCommand): Promise<string> {
  const answers = await sendRequests(createServerClient(environment), command);
  if (command.json) return answers.map(({ text }) => `${text}\n`).join('');
  const found =
    command.action === 'list'
      ? answers.flatMap(({ body }) => itemsOf(body, 'data'))
      : answers.map(({ body }) => memberOf(body, 'budget'));
  return alignRows([COLUMNS, ...found.map(rowOf)]);
}

async function sendRequests(client: ServerClient, command: BudgetsCommand): Promise<readonly ServerResponse[]> {
  switch (command.action) {
    case 'list': {
      const { scope, includeArchived } = command;
      const query = new URLSearchParams({
        ...{ limit: '200', include_archived: String(includeArchived) },
        ...(scope === null ? {} : { scope_kind: scope.kind }),
        ...(scope?.id ? { scope_id: scope.id } : {}),
      });
      return await readPages(client, `${PATH}?${query}`);
    }
    case 'create':
      return [await client.call('POST', PATH, { ...command.fields, scope: bodyOf(command.fields.scope) })];
    case 'set':
      return [await client.call('PATCH', `${PATH}/${command.id}`, command.fields)];
    case 'reset':
      return [await client.call('POST', `${PATH}/${command.id}/reset`, { reason: command.reason })];
    case 'archive':
      return [await client.call('DELETE', `${PATH}/${command.id}`)];
  }
}

function bodyOf({ kind, id }: TypedScope): object {
  return id === null ? { kind } : { kind, id };
}

const COLUMNS = ['ID', 'NAME', 'SCOPE', 'WINDOW', 'LIMIT', 'SPENT', 'RESERVED', 'ON BREACH', 'RESETS', 'ARCHIVED'];

function rowOf(budget: unknown): readonly string[] {
  const read = (name: string) => memberText(budget, name);
  const scope = memberOf(budget, 'scope');
  const money = ['limit_usd', 'spent_usd', 'reserved_usd'].map((name) => `${read(name)} USD`);
  return [
    ...[read('id'), read('name'), `${memberText(scope, 'kind')}:${memberText(scope, 'id')}`, read('window')],
    ...[...money, read('on_breach'), read('resets_at'), read('archived_at')],
  ];
}

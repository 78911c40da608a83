/** Creates, lists, tests and deletes model providers of a running server. */

import { createServerClient, readPages, type ServerClient, type ServerResponse } from './client.ts';
import type { Environment } from './io.ts';
import type { ModelProviderOptions, ModelProvidersCommand } from './model-providers-arguments.ts';
import { alignRows, itemsOf, memberOf, memberText } from './text.ts';

const PATH = '/api/gateway/v1/model-providers';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function modelProviders(environment: Environment, command: ModelProvidersCommand): Promise<string> {
  const answers = await sendRequests(createServerClient(environment), command, environment);
  if (command.json) return answers.map(({ text }) => `${text}\n`).join('');
  const [answer] = answers;
  switch (command.action) {
    case 'list':
      return listing(answers.flatMap(({ body }) => itemsOf(body, 'data')));
    case 'create':
      return listing([memberOf(answer?.body, 'model_provider')]);
    case 'delete':
      return `deleted ${command.id}\n`;
    case 'test':
      return outcomeText(answer?.body);
  }
}

async function sendRequests(
  client: ServerClient,
  command: ModelProvidersCommand,
  environment: Environment,
): Promise<readonly ServerResponse[]> {
  if (command.action === 'list') return await readPages(client, `${PATH}?limit=200`);
  if (command.action === 'create') return [await client.call('POST', PATH, bodyOf(command.options, environment))];
  const path = `${PATH}/${encodeURIComponent(command.id)}`;
  return [await (command.action === 'delete' ? client.call('DELETE', path) : client.call('POST', `${path}/test`))];
}

function bodyOf(
  { name, providerKind, baseUrl, keyVariable, projectIds }: ModelProviderOptions,
  environment: Environment,
) {
  const apiKey = keyVariable === null ? undefined : environment[keyVariable]?.trim();
  if (keyVariable !== null && !apiKey) throw new Error('the variable that --api-key-from names holds no API key');
  return {
    name,
    kind: providerKind,
    ...(baseUrl === null ? {} : { base_url: baseUrl }),
    ...(apiKey === undefined ? {} : { api_key: apiKey }),
    ...(projectIds.length === 0 ? {} : { project_ids: projectIds }),
  };
}

function outcomeText(test: unknown): string {
  if (memberOf(test, 'ok') !== true) return `failed: ${memberText(test, 'error')}\n`;
  const models = itemsOf(test, 'models');
  return [`ok: ${models.length} models in ${memberText(test, 'latency_ms')} ms`, ...models.map(String), ''].join('\n');
}

const COLUMNS = ['ID', 'NAME', 'KIND', 'BASE URL', 'KEY', 'ENABLED'];
const MEMBERS = ['id', 'name', 'kind', 'base_url', 'key_hint', 'enabled'];

function listing(items: readonly unknown[]): string {
  return alignRows([COLUMNS, ...items.map((provider) => MEMBERS.map((name) => memberText(provider, name)))]);
}

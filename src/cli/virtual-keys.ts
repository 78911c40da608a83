/** Creates, lists, rotates, stops and revokes virtual keys of a running server. */

import { createServerClient, readPages, type ServerClient, type ServerResponse } from './client.ts';
import type { Environment } from './io.ts';
import { instantOf } from './keys.ts';
import { alignRows, itemsOf, memberOf, memberText } from './text.ts';
import type { VirtualKeyOptions, VirtualKeysCommand } from './virtual-keys-arguments.ts';

const PATH = '/api/gateway/v1/virtual-keys';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function virtualKeys(
  environment: Environment,
  command: VirtualKeysCommand,
  nowMs: number,
): Promise<string> {
  const client = createServerClient(environment);
  const answers = await sendRequests(client, command, nowMs);
  if (command.json) return answers.map(({ text }) => `${text}\n`).join('');
  if (command.action === 'list') return listing(answers.flatMap(({ body }) => itemsOf(body, 'data')));
  const [answer] = answers;
  const key = memberOf(answer?.body, 'virtual_key');
  if (command.action !== 'create' && command.action !== 'rotate') return listing([key]);
  const budget = memberOf(answer?.body, 'budget');
  return [
    alignRows([
      ['id', memberText(key, 'id')],
      ['name', memberText(key, 'name')],
      ['project', memberText(key, 'trace_project_id')],
      ['expires', memberText(key, 'expires_at')],
      ...(budget === null ? [] : [['budget', memberText(budget, 'id')]]),
      ['secret', memberText(answer?.body, 'secret')],
    ]),
    'Keep the secret now: it is not shown again.\n',
  ].join('');
}

async function sendRequests(
  client: ServerClient,
  command: VirtualKeysCommand,
  nowMs: number,
): Promise<readonly ServerResponse[]> {
  if (command.action === 'list') return await readPages(client, `${PATH}?limit=200`);
  if (command.action === 'create') return [await client.call('POST', PATH, bodyOf(command.options, nowMs))];
  const path = `${PATH}/${encodeURIComponent(command.id)}/${command.action}`;
  if (command.action === 'rotate') {
    const { overlapSeconds } = command;
    return [await client.call('POST', path, overlapSeconds === null ? {} : { overlap_s: overlapSeconds })];
  }
  return [await client.call('POST', path, command.reason === null ? {} : { reason: command.reason })];
}

function bodyOf(options: VirtualKeyOptions, nowMs: number): object {
  const { name, projectId, description, externalId, models, providers, rpm, expires, budget } = options;
  const config = {
    ...(models.length === 0 ? {} : { models_allowed: models }),
    ...(providers.length === 0 ? {} : { providers }),
    ...(rpm === null ? {} : { rate_limits: { rpm } }),
  };
  return {
    name,
    trace_project_id: projectId,
    config,
    ...(description === null ? {} : { description }),
    ...(externalId === null ? {} : { external_id: externalId }),
    ...(expires === null ? {} : { expires_at: instantOf(expires, nowMs) }),
    ...(budget === null ? {} : { budget: budgetOf(budget) }),
  };
}

function budgetOf({ window, limitUsd, isWarning }: NonNullable<VirtualKeyOptions['budget']>): object {
  return { window, limit_usd: limitUsd, ...(isWarning ? { on_breach: 'warn' } : {}) };
}

const COLUMNS = ['ID', 'STATUS', 'NAME', 'SECRET', 'PROJECT', 'EXTERNAL ID', 'EXPIRES', 'LAST USED'];
const MEMBERS = [
  'id',
  'status',
  'name',
  'display_prefix',
  'trace_project_id',
  'external_id',
  'expires_at',
  'last_used_at',
];

function listing(items: readonly unknown[]): string {
  return alignRows([COLUMNS, ...items.map((key) => MEMBERS.map((name) => memberText(key, name)))]);
}
